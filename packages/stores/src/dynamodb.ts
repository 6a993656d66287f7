import { randomBytes, randomUUID } from 'node:crypto'
import {
  type KeepsSessions,
  RunbridgeError,
  type SecretStore,
  type TaskKey,
  type TaskStore,
} from '@runbridge/core'
import { checkLimit } from './common/cursor.js'
import { tableAccess } from './dynamodb/access.js'
import { checkTable } from './dynamodb/check-table.js'
import { claimName } from './dynamodb/claim-name.js'
import { type DynamoDbClient, openClient } from './dynamodb/client.js'
import { storeError } from './dynamodb/errors.js'
import {
  pointedAt,
  recordKey,
  runIdPartition,
  runKeyPartition,
  secretKey,
  toRecord,
} from './dynamodb/item.js'
import { listRecords } from './dynamodb/list.js'
import { dynamodbSessions } from './dynamodb/sessions.js'
import { sweepRecords } from './dynamodb/sweep.js'
import { onlyRecord, tableWrites } from './dynamodb/writes.js'

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

/**
 * Task records and sessions in one DynamoDB table, for any number of replicas and for Lambda. Every write is conditional, and every
 * read of a record strongly consistent; only lists and the sweeper find their keys in indexes, which may lag behind
 * by a moment. Needs no transactions: who follows a run is written before the record that follows it, and what
 * points at a record that is not there counts for nothing.
 *
 * Looks at the table before it resolves. Throws `misconfigured` where it is missing, has another shape, may not be
 * used or was written by a newer Runbridge.
 */
export async function dynamodb(options: DynamodbOptions): Promise<TaskStore & SecretStore & KeepsSessions> {
  const { table, region, endpoint, maxRunMs = 400 * DAY_MS } = options
  if ((region === undefined) === (options.client === undefined)) {
    throw new RunbridgeError('misconfigured', 'The DynamoDB store needs a region or a client, and not both.')
  }
  const client = options.client ?? openClient({ region: region ?? '', endpoint })
  const access = tableAccess(client, table)
  const writes = tableWrites(client, table, access, maxRunMs)
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

  try {
    await use(() => checkTable(client, table, access), `The table ${table}`)
  } catch (thrown) {
    await close()
    throw thrown
  }

  return {
    sessions: dynamodbSessions(access, writes, use),

    create: (record) => use(async () => ((await writes.create(record)) ? 'created' : 'exists')),

    get: (key) =>
      use(async () => {
        const item = await read(recordKey(key))
        return item && toRecord(item)
      }),

    update: (record) => use(() => writes.update(record)),

    delete: (key, only) => use(() => writes.remove(key, only && onlyRecord(only))),

    list: (owner, filter, limit, cursor) =>
      use(async () => {
        checkLimit(limit)
        return listRecords(access, owner, filter, limit, cursor)
      }),

    claim: (owner, name, taskId, holder) =>
      use(() => claimName(access, writes, { owner, name, taskId, holder }, maxRunMs)),

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

    sweep: (now, limit) => use(() => sweepRecords(access, writes, now, limit)),

    secret: (name) =>
      use(async () => {
        const key = secretKey(name)
        const present = (await read(key))?.value?.B
        if (present) return new Uint8Array(present)
        const made = { born: { S: randomUUID() }, value: { B: new Uint8Array(randomBytes(32)) } }
        // Whoever comes first: all replicas go by what was written then.
        await writes.put(key, made, 'born')
        return new Uint8Array((await read(key))?.value?.B ?? [])
      }),

    close,
  }
}
