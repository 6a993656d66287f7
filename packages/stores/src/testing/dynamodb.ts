import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import dynalite from 'dynalite'
import { createDynamodbTable } from '../dynamodb.js'

/** What clients of a stand-in need; it looks at no credentials. */
export const LOCAL = { region: 'eu-north-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }

export interface TestDynamodb {
  readonly endpoint: string
  readonly client: DynamoDB
  /** A table that nobody else has. */
  newTable(): Promise<string>
  dropTable(table: string): Promise<void>
  close(): Promise<void>
}

/**
 * A DynamoDB on loopback: the one that RUNBRIDGE_DYNAMODB_URL names, else dynalite, in memory. Dynalite has no time to
 * live, and the indexes of both never lag behind.
 */
export async function startTestDynamodb(): Promise<TestDynamodb> {
  const given = process.env.RUNBRIDGE_DYNAMODB_URL
  const { endpoint, close } = given ? { endpoint: given, close: async () => {} } : await startDynalite()
  const client = new DynamoDB({ ...LOCAL, endpoint })
  return {
    endpoint,
    client,
    async newTable() {
      const table = `test-${randomBytes(8).toString('hex')}`
      await createDynamodbTable(client, table)
      return table
    },
    async dropTable(table) {
      await client.deleteTable({ TableName: table })
    },
    async close() {
      client.destroy()
      await close()
    },
  }
}

async function startDynalite() {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
