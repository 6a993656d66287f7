import { RunbridgeError } from '@runbridge/core'
import type { tableAccess } from './access.js'
import type { DynamoDbClient } from './client.js'
import { ITEM_VERSION, SCHEMA_KEY } from './item.js'
import { DUE_INDEX, LIST_INDEX } from './table.js'

/** Tries every way in which the store asks the table, and notes the shape of the items in it. */
export async function checkTable(
  client: DynamoDbClient,
  table: string,
  { read, query }: ReturnType<typeof tableAccess>,
): Promise<void> {
  const schema = await read(SCHEMA_KEY)
  const version = Number(schema?.itemVersion?.N ?? 0)
  if (version > ITEM_VERSION) {
    throw new RunbridgeError(
      'misconfigured',
      `The table ${table} was written by a newer Runbridge: its items have version ${version}, this one knows up to ` +
        `${ITEM_VERSION}. Update Runbridge, or name another table for the task store.`,
    )
  }
  if (version < ITEM_VERSION) {
    await client.putItem({
      TableName: table,
      Item: { ...SCHEMA_KEY, itemVersion: { N: String(ITEM_VERSION) } },
    })
  }
  const anyOf = (index: string, hash: string) =>
    query({
      IndexName: index,
      KeyConditionExpression: '#hash = :none',
      ExpressionAttributeNames: { '#hash': hash },
      ExpressionAttributeValues: { ':none': { S: 'nothing' } },
      Limit: 1,
    }).next()
  await Promise.all([anyOf(LIST_INDEX, 'list'), anyOf(DUE_INDEX, 'due')])
}
