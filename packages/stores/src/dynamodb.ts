import { randomBytes, randomUUID } from 'node:crypto'
import {
  dueAfter,
  type Owner,
  RunbridgeError,
  type SecretStore,
  type TaskKey,
  type TaskRecord,
  type TaskStore,
} from '@runbridge/core'
import { checkLimit } from './common/cursor.js'
import { column, fromColumn } from './common/row.js'
import { tableAccess } from './dynamodb/access.js'
import { type Attributes, type DynamoDbClient, type Item, openClient } from './dynamodb/client.js'
import { isRefusedCondition, storeError } from './dynamodb/errors.js'
import {
  changingAttributes,
  fixedAttributes,
  ITEM_VERSION,
  nameKey,
  pointedAt,
  pointerKey,
  pointerTtl,
  recordKey,
  runIdPartition,
  runKeyPartition,
  SCHEMA_KEY,
  secretKey,
  taskKeyOf,
  toRecord,
} from './dynamodb/item.js'
import { listRecords } from './dynamodb/list.js'
import { DUE_INDEX } from './dynamodb/table.js'

export type { DynamoDbClient } from './dynamodb/client.js'
export { createDynamodbTable, type DynamoDbAdmin, dynamodbTable } from './dynamodb/table.js'

export interface DynamodbOptions {
  /** A table for this store alone, of the shape that `dynamodbTable` describes. */
  readonly table: string
  /** The table's region. */
  readonly region?: string
  /** Instead of the region's own, such as a local stand-in. */
  readonly endpoint?: string
  /** A `DynamoDB` of `@aws-sdk/client-dynamodb` instead of a region. It stays the caller's: not closed here. */
  readonly client?: DynamoDbClient
  /**
   * The longest life of a run, in ms. DynamoDB removes a record by itself this long and its retention after it was
   * created, whatever became of it. Default 400 days: a year is the longest that an engine allows.
   */
  readonly maxRunMs?: number
}

const DAY_MS = 86_400_000
const CLAIM_TRIES = 10

/**
 * Task records in one DynamoDB table, for any number of replicas and for Lambda. Every write is conditional, and every
 * read of a record strongly consistent; only lists and the sweeper find their keys in indexes, which may lag behind
 * by a moment. Needs no transactions: who follows a run is written before the record that follows it, and what
 * points at a record that is not there counts for nothing.
 *
 * Looks at the table before it resolves. Throws `misconfigured` where it is missing, has another shape, may not be
 * used or was written by a newer Runbridge.
 */
export async function dynamodb(options: DynamodbOptions): Promise<TaskStore & SecretStore> {
  const { table, region, endpoint, maxRunMs = 400 * DAY_MS } = options
  if ((region === undefined) === (options.client === undefined)) {
    throw new RunbridgeError('misconfigured', 'The DynamoDB store needs a region or a client, and not both.')
  }
  const client = options.client ?? (await openClient({ region: region ?? '', endpoint }))
  const access = tableAccess(client, table)
  const { read, query, records } = access
  let open = true

  async function use<T>(operation: () => Promise<T>, about = 'The task store'): Promise<T> {
    if (!open) throw new RunbridgeError('unavailable', 'The task store is closed.')
    try {
      return await operation()
    } catch (thrown) {
      throw storeError(thrown, about)
    }
  }

  const close = async () => {
    open = false
    if (options.client === undefined) client.destroy?.()
  }

  /** Whether the condition held. */
  async function conditionally(write: Promise<unknown>): Promise<boolean> {
    try {
      await write
      return true
    } catch (thrown) {
      if (isRefusedCondition(thrown)) return false
      throw thrown
    }
  }

  /** A put of an item that is not there yet. True too where an earlier sending of it had put it already. */
  async function putNew(Item: Attributes & { born: { S: string } }, key: Attributes): Promise<boolean> {
    const put = client.putItem({ TableName: table, Item, ConditionExpression: 'attribute_not_exists(pk)' })
    if (await conditionally(put)) return true
    return (await read(key))?.born?.S === Item.born.S
  }

  const point = (partition: string, record: TaskRecord) =>
    client.putItem({
      TableName: table,
      Item: { ...pointerKey(partition, record), ttl: pointerTtl(record, maxRunMs) },
    })

  /** What pointed at a record that is gone. Left behind, it would only wait for its time to live. */
  async function unpoint(key: TaskKey, { runKey, runId }: Item): Promise<void> {
    const partitions = [`key#${runKey?.S}`, ...(runId === undefined ? [] : [`run#${runId.S}`])]
    await Promise.allSettled(
      partitions.map((partition) =>
        client.deleteItem({ TableName: table, Key: pointerKey(partition, key), ReturnValues: 'ALL_OLD' }),
      ),
    )
  }

  async function remove(
    key: TaskKey,
    condition?: { expression: string; values: Attributes },
  ): Promise<boolean> {
    let gone: Item | undefined
    const removed = await conditionally(
      client
        .deleteItem({
          TableName: table,
          Key: recordKey(key),
          ReturnValues: 'ALL_OLD',
          ...(condition && {
            ConditionExpression: condition.expression,
            ExpressionAttributeValues: condition.values,
          }),
        })
        .then(({ Attributes }) => {
          gone = Attributes
        }),
    )
    if (!removed || gone === undefined) return false
    await unpoint(key, gone)
    return true
  }

  async function write(record: TaskRecord, written: string, sameRun: boolean): Promise<boolean> {
    const changing = { ...changingAttributes(record, maxRunMs), written: { S: written } }
    const names: Record<string, string> = { '#version': 'version', '#runId': 'runId' }
    const values: Attributes = { ':present': { N: String(record.version) }, ':one': { N: '1' } }
    const set = ['#version = #version + :one']
    const removed: string[] = []
    for (const [name, value] of Object.entries(changing)) {
      names[`#${name}`] = name
      if (value === undefined) removed.push(`#${name}`)
      else {
        values[`:${name}`] = value
        set.push(`#${name} = :${name}`)
      }
    }
    const run = record.run === undefined ? 'attribute_not_exists(#runId)' : '#runId = :runId'
    if (!sameRun && record.run !== undefined) await point(runIdPartition(record.run.id), record)
    return conditionally(
      client.updateItem({
        TableName: table,
        Key: recordKey(record),
        UpdateExpression: `set ${set.join(', ')}${removed.length > 0 ? ` remove ${removed.join(', ')}` : ''}`,
        ConditionExpression: `#version = :present${sameRun ? ` and ${run}` : ''}`,
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: values,
      }),
    )
  }

  /** Expired records are removed one by one, each by whoever comes first. */
  async function removeExpired(now: number, limit: number): Promise<number> {
    let removed = 0
    for await (const item of query(dueBefore('expires', now, Math.min(limit, 100)))) {
      const condition = {
        expression: 'due = :due and dueAt < :now',
        values: { ':due': { S: 'expires' }, ':now': { N: String(now) } },
      }
      if (await remove(taskKeyOf(item), condition)) removed += 1
      if (removed === limit) break
    }
    return removed
  }

  async function dueRecords(now: number, limit: number): Promise<TaskRecord[]> {
    const waiting: { key: TaskKey; refreshAfter: number }[] = []
    for await (const item of query(dueBefore('due', now))) {
      waiting.push({ key: taskKeyOf(item), refreshAfter: Number(item.refreshAfter?.N) })
    }
    waiting.sort((a, b) => a.refreshAfter - b.refreshAfter)
    const due: TaskRecord[] = []
    for (let from = 0; from < waiting.length && due.length < limit; from += limit) {
      const found = await records(waiting.slice(from, from + limit).map(({ key }) => key))
      due.push(...found.filter((record) => (dueAfter(record) ?? now) < now))
    }
    return due.slice(0, limit)
  }

  /** The record that a name points at, while it is the one that the name was given to. */
  async function holderOf(owner: Owner, item: Item | undefined): Promise<string | undefined> {
    if (item === undefined) return undefined
    const taskId = fromColumn(item.taskId?.S ?? '')
    const record = await read(recordKey({ owner, taskId }))
    return record?.born?.S === item.of?.S ? taskId : undefined
  }

  try {
    await use(() => checkTable(client, table, access), `The table ${table}`)
  } catch (thrown) {
    await close()
    throw thrown
  }

  return {
    create: (record) =>
      use(async () => {
        const nonce = { S: randomUUID() }
        const changing = Object.entries(changingAttributes(record, maxRunMs)).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, value] as const],
        )
        const item = {
          ...recordKey(record),
          ...fixedAttributes(record),
          ...Object.fromEntries(changing),
          version: { N: '1' },
          born: nonce,
          written: nonce,
        }
        await point(runKeyPartition(record.runKey), record)
        if (record.run !== undefined) await point(runIdPartition(record.run.id), record)
        return (await putNew(item, recordKey(record))) ? 'created' : 'exists'
      }),

    get: (key) =>
      use(async () => {
        const item = await read(recordKey(key))
        return item && toRecord(item)
      }),

    update: (record) =>
      use(async () => {
        const written = randomUUID()
        // Which run it follows changes once in a record's life: only then its pointer has to be written.
        for (const sameRun of [true, false]) {
          if (await write(record, written, sameRun)) return 'updated'
          const present = await read(recordKey(record))
          if (present === undefined) return 'missing'
          // The answer to this very write was lost, and it was sent again.
          if (present.written?.S === written) return 'updated'
          if (Number(present.version?.N) !== record.version) return 'conflict'
        }
        return 'conflict'
      }),

    delete: (key, version) =>
      use(() =>
        version === undefined
          ? remove(key)
          : remove(key, { expression: 'version = :version', values: { ':version': { N: String(version) } } }),
      ),

    list: (owner, filter, limit, cursor) =>
      use(async () => {
        checkLimit(limit)
        return listRecords(access, owner, filter, limit, cursor)
      }),

    claim: (owner, name, taskId, holder) =>
      use(async () => {
        const key = nameKey(owner, name)
        for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
          const item = await read(key)
          const present = await holderOf(owner, item)
          if (present !== undefined && present !== holder) return present
          const record = await read(recordKey({ owner, taskId }))
          if (record === undefined) return present
          const written = { S: randomUUID() }
          const Item = {
            ...key,
            taskId: { S: column(taskId) },
            of: { S: record.born?.S ?? '' },
            written,
            ttl: pointerTtl(toRecord(record), maxRunMs),
          }
          const put = client.putItem({
            TableName: table,
            Item,
            ...(item === undefined
              ? { ConditionExpression: 'attribute_not_exists(pk)' }
              : {
                  ConditionExpression: 'written = :written',
                  ExpressionAttributeValues: { ':written': { S: item.written?.S ?? '' } },
                }),
          })
          if ((await conditionally(put)) || (await read(key))?.written?.S === written.S) return taskId
        }
        throw new RunbridgeError('unavailable', 'The task store had too many changes of one name. Try again.')
      }),

    byRun: (run) =>
      use(async () => {
        const partition = 'runKey' in run ? runKeyPartition(run.runKey) : runIdPartition(run.runId)
        const keys: TaskKey[] = []
        const pointers = query({
          KeyConditionExpression: '#pk = :pk',
          ExpressionAttributeNames: { '#pk': 'pk' },
          ExpressionAttributeValues: { ':pk': { S: partition } },
          ConsistentRead: true,
        })
        for await (const item of pointers) keys.push(pointedAt(item))
        const found = await records(keys)
        return found.filter((record) =>
          'runKey' in run ? record.runKey === run.runKey : record.run?.id === run.runId,
        )
      }),

    sweep: (now, limit) =>
      use(async () => ({ removed: await removeExpired(now, limit), due: await dueRecords(now, limit) })),

    secret: (name) =>
      use(async () => {
        const key = secretKey(name)
        const item = { ...key, born: { S: randomUUID() }, value: { B: new Uint8Array(randomBytes(32)) } }
        await putNew(item, key)
        return new Uint8Array((await read(key))?.value?.B ?? [])
      }),

    close,
  }
}

function dueBefore(kind: 'due' | 'expires', now: number, limit?: number) {
  return {
    IndexName: DUE_INDEX,
    KeyConditionExpression: '#due = :due and #at < :now',
    ExpressionAttributeNames: { '#due': 'due', '#at': 'dueAt' },
    ExpressionAttributeValues: { ':due': { S: kind }, ':now': { N: String(now) } },
    ...(limit !== undefined && { Limit: limit }),
  }
}

/** Tries every way in which the store asks the table, and notes the shape of the items in it. */
async function checkTable(
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
  for (const [index, hash] of [
    ['list', 'list'],
    [DUE_INDEX, 'due'],
  ] as const) {
    const items = query({
      IndexName: index,
      KeyConditionExpression: '#hash = :none',
      ExpressionAttributeNames: { '#hash': hash },
      ExpressionAttributeValues: { ':none': { S: 'nothing' } },
      Limit: 1,
    })
    await items.next()
  }
}
