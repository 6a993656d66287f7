import { setTimeout as delay } from 'node:timers/promises'
import type { TaskKey, TaskRecord } from '@runbridge/core'
import type { Attributes, DynamoDbClient, Item } from './client.js'
import { busy } from './errors.js'
import { recordKey, taskKeyOf, toRecord } from './item.js'

/** BatchGetItem takes 100 keys and answers with 16 MB: 40 items of the largest size. */
const BATCH = 40
const PAUSE_MS = 25
/** A table that still leaves keys out after pauses of 3 s together is throttled for longer than a caller waits. */
const MOST_PAUSE_MS = 2_000

/** Keys of a table: what goes from one page of a query to the next. */
export function asKey(item: Item): Attributes {
  const key: Attributes = {}
  for (const [name, { S, N }] of Object.entries(item)) key[name] = N === undefined ? { S: S ?? '' } : { N }
  return key
}

/** What the store asks of one table, page by page and batch by batch. Every read of items is strongly consistent. */
export function tableAccess(client: DynamoDbClient, table: string) {
  async function read(key: Attributes): Promise<Item | undefined> {
    return (await client.getItem({ TableName: table, Key: key, ConsistentRead: true })).Item
  }

  type Query = Omit<Parameters<DynamoDbClient['query']>[0], 'TableName' | 'ExclusiveStartKey'>

  async function* query(input: Query): AsyncGenerator<Item> {
    let start: Attributes | undefined
    do {
      const { Items = [], LastEvaluatedKey } = await client.query({
        TableName: table,
        ...input,
        ...(start && { ExclusiveStartKey: start }),
      })
      yield* Items
      start = LastEvaluatedKey && asKey(LastEvaluatedKey)
    } while (start)
  }

  /** The records that are there, in the order of the keys. */
  async function records(keys: readonly TaskKey[]): Promise<TaskRecord[]> {
    const found = new Map<string, Item>()
    for (let from = 0; from < keys.length; from += BATCH) {
      let wanted: Attributes[] = keys.slice(from, from + BATCH).map(recordKey)
      for (let pause = PAUSE_MS; wanted.length > 0; pause *= 2) {
        const { Responses, UnprocessedKeys } = await client.batchGetItem({
          RequestItems: { [table]: { Keys: wanted, ConsistentRead: true } },
        })
        for (const item of Responses?.[table] ?? []) found.set(JSON.stringify(taskKeyOf(item)), item)
        wanted = (UnprocessedKeys?.[table]?.Keys ?? []).map(asKey)
        if (wanted.length === 0) break
        if (pause > MOST_PAUSE_MS) throw busy()
        await delay(pause)
      }
    }
    return keys.flatMap(({ owner, taskId }) => {
      const item = found.get(JSON.stringify({ owner, taskId }))
      return item === undefined ? [] : [toRecord(item)]
    })
  }

  return { read, query, records }
}
