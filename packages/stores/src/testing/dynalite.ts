import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import dynalite from 'dynalite'
import { createDynamodbTable } from '../dynamodb.js'

/** What clients of the stand-in need; it looks at no credentials. */
export const LOCAL = { region: 'eu-north-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }

export interface Dynalite {
  readonly port: number
  readonly endpoint: string
  readonly client: DynamoDB
  /** A table that nobody else has. */
  newTable(): Promise<string>
  dropTable(table: string): Promise<void>
  close(): Promise<void>
}

/** A DynamoDB on loopback, in memory. It has no transactions, no time to live, and indexes that never lag behind. */
export async function startDynalite(): Promise<Dynalite> {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const endpoint = `http://127.0.0.1:${port}`
  const client = new DynamoDB({ ...LOCAL, endpoint })
  return {
    port,
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
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
