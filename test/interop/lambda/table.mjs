import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createDynamodbTable } from '@runbridge/stores/dynamodb'
import { root } from '../../bin/command.mjs'

const requireOfStores = createRequire(join(root, 'packages/stores/package.json'))

/**
 * A table of tasks in a DynamoDB on loopback: dynalite, which keeps it in memory.
 * @param {{ name: string, region: string }} table
 */
export async function startTable({ name, region }) {
  const dynalite = requireOfStores('dynalite')
  const { DynamoDB } = requireOfStores('@aws-sdk/client-dynamodb')
  const server = dynalite({ createTableMs: 0 })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const endpoint = `http://127.0.0.1:${server.address().port}`
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new DynamoDB({ region, endpoint, credentials })
  await createDynamodbTable(client, name)
  return {
    endpoint,
    async close() {
      client.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
