import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type KeepsSessions,
  type Log,
  RunbridgeError,
  type SecretStore,
  type TaskStore,
} from '@runbridge/core'
import { checkLimit, decodeCursor, encodeCursor } from './common/cursor.js'
import { changingColumns, column, fromColumn, type RecordRow, toRecord } from './common/row.js'
import { databaseClock } from './postgres/database-clock.js'
import { isPassing, storeError } from './postgres/errors.js'
import { openPool, type PostgresPool, shownUrl } from './postgres/pool.js'
import { migrate } from './postgres/schema.js'
import { postgresSessions } from './postgres/sessions.js'
import { statements } from './postgres/statements.js'
import { createWatching } from './postgres/watch.js'

export type { PostgresClient, PostgresPool } from './postgres/pool.js'

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database`, with what pg reads of it, such as `?sslmode=verify-full`. */
  readonly url?: string
  /** A `pg.Pool` instead of a URL, of at least two connections: one listens. It stays the caller's: not closed here. */
  readonly pool?: PostgresPool
  /** The schema (namespace) of the tables, made where it is missing: lower-case letters, digits, `_`. Default `runbridge`. */
  readonly schema?: string
  /** How many connections the pool of a URL has at most. Default 10. */
  readonly maxConnections?: number
  /** How long an operation goes on trying while the database can't be reached, in ms. Default 5000. */
  readonly retryMs?: number
  /** How often changes of other processes are looked for where notifications do not come, in ms. Default 2000. */
  readonly pollMs?: number
  /** How often the listening connection has to prove that notifications come, in ms. Default 30,000. */
  readonly pingMs?: number
  /** How long such a proof may take, in ms. Default 5000. */
  readonly pongMs?: number
  /** Default: silent. */
  readonly log?: Log
}

/** How often a claim looks again after its name or its task went away between two of its looks. */
const CLAIM_TRIES = 10

/**
 * Task records and sessions in PostgreSQL 15 or newer, for any number of replicas. What a method wrote is committed when it
 * returns, and as durable as the database makes a commit. Works through poolers of any mode: no statement is kept
 * prepared, no setting or lock outlives its transaction. Its clock is the database's, asked when it is opened and at
 * every sweep.
 *
 * Connects and brings the schema up to date before it resolves. Throws `misconfigured` for a URL, user, database or
 * schema that can't be a task store, `unavailable` when the database can't be reached.
 */
export async function postgres(options: PostgresOptions): Promise<TaskStore & SecretStore & KeepsSessions> {
  const { url, schema = 'runbridge', retryMs = 5_000, log } = options
  if (!/^[a-z_][a-z0-9_]{0,52}$/.test(schema)) {
    throw new RunbridgeError(
      'misconfigured',
      `The schema ${JSON.stringify(schema)} is no name for one: use lower-case letters, digits and _.`,
    )
  }
  if ((url === undefined) === (options.pool === undefined)) {
    throw new RunbridgeError('misconfigured', 'The PostgreSQL store needs a URL or a pool, and not both.')
  }
  const subject = url === undefined ? 'PostgreSQL' : shownUrl(url)
  const pool = options.pool ?? (await openPool(url ?? '', options.maxConnections ?? 10))
  let open = true

  /** Tries again while the database can't be reached: every statement here may be sent twice. */
  async function use<T>(operation: () => Promise<T>, about = 'The task store'): Promise<T> {
    const deadline = performance.now() + retryMs
    for (let pause = 50; ; pause = Math.min(pause * 2, 1_000)) {
      if (!open) throw new RunbridgeError('unavailable', 'The task store is closed.')
      try {
        return await operation()
      } catch (thrown) {
        if (!isPassing(thrown) || performance.now() + pause > deadline) throw storeError(thrown, about)
      }
      await delay(pause * (0.5 + Math.random() / 2))
    }
  }

  const close = async () => {
    open = false
    await watching.close()
    if (options.pool === undefined) await pool.end()
  }

  const channel = `runbridge_${schema}`
  const watching = createWatching({
    pool,
    channel,
    pollMs: options.pollMs ?? 2_000,
    pingMs: options.pingMs ?? 30_000,
    pongMs: options.pongMs ?? 5_000,
    log,
  })
  const sql = statements(schema)
  const clock = databaseClock(async () => Number((await rows<{ now: number }>(sql.now))[0]?.now))
  const rows = async <T>(text: string, ...values: unknown[]): Promise<T[]> =>
    (await pool.query(text, values)).rows
  try {
    await use(() => migrate(pool, schema, subject), subject)
    await use(clock.measure, subject)
  } catch (thrown) {
    await close()
    throw thrown
  }

  const records = async (text: string, ...values: unknown[]) =>
    (await rows<RecordRow>(text, ...values)).map((row) => toRecord({ ...row, version: Number(row.version) }))

  /** The version under which a record is kept, and whether this very write has brought it there. */
  const present = async (key: readonly [string, string], write: string) => {
    const [row] = await rows<{ written: string }>(sql.written, ...key)
    return row === undefined ? 'missing' : row.written === write ? 'mine' : 'other'
  }

  return {
    sessions: postgresSessions(schema, { use, rows }),

    async create(record) {
      const write = randomUUID()
      const key = [column(record.owner), column(record.taskId)] as const
      const changing = Object.values(changed(record))
      return use(async () => {
        const values = [...key, write, ...changing, column(record.runKey), record.createdAt]
        if ((await rows(sql.insert, ...values)).length === 1) return 'created'
        return (await present(key, write)) === 'mine' ? 'created' : 'exists'
      })
    },

    get: ({ owner, taskId }) => use(async () => (await records(sql.get, column(owner), column(taskId)))[0]),

    async update(record) {
      const write = randomUUID()
      const key = [column(record.owner), column(record.taskId)] as const
      const values = [
        ...key,
        write,
        ...Object.values(changed(record)),
        record.version,
        channel,
        watching.payload(record),
        column(record.runKey),
      ]
      return use(async () => {
        const [done] = await rows<{ updated: string }>(sql.update, ...values)
        if (Number(done?.updated) === 1) return 'updated'
        const outcomes = { missing: 'missing', mine: 'updated', other: 'conflict' } as const
        return outcomes[await present(key, write)]
      })
    },

    delete: ({ owner, taskId }, only) =>
      use(async () => {
        const { runKey, version = null } = only ?? {}
        const key = runKey === undefined ? null : column(runKey)
        return (await rows(sql.remove, column(owner), column(taskId), key, version)).length === 1
      }),

    async list(owner, { tool, states, since }, limit, cursor) {
      return use(async () => {
        checkLimit(limit)
        const after = cursor === undefined ? undefined : decodeCursor(cursor)
        const found = await records(
          sql.list,
          column(owner),
          after?.createdAt ?? Number.MAX_VALUE,
          column(after?.taskId ?? ''),
          tool === undefined ? null : column(tool),
          states ?? null,
          since ?? -Number.MAX_VALUE,
          limit + 1,
        )
        const page = found.slice(0, limit)
        const last = page.at(-1)
        return found.length > limit && last ? { records: page, next: encodeCursor(last) } : { records: page }
      })
    },

    async claim(owner, name, taskId, holder) {
      const key = [column(owner), column(name)] as const
      const wanted = [column(taskId), holder === undefined ? null : column(holder)] as const
      return use(async () => {
        for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
          if ((await rows(sql.claim, ...key, ...wanted)).length === 1) return taskId
          // As a statement of its own it sees what the first one waited for.
          const [row] = await rows<{ task_id: string }>(sql.holder, ...key)
          if (row !== undefined) return fromColumn(row.task_id)
          if ((await rows(sql.written, key[0], wanted[0])).length === 0) return undefined
        }
        throw new RunbridgeError('unavailable', 'The task store had too many changes of one name. Try again.')
      })
    },

    byRun: (query) =>
      use(() =>
        'runKey' in query
          ? records(sql.byRunKey, column(query.runKey))
          : records(sql.byRunId, column(query.runId)),
      ),

    sweep: (now, limit) =>
      use(async () => {
        await clock.measure()
        return {
          removed: (await rows(sql.expire, now, limit)).length,
          due: await records(sql.due, now, limit),
        }
      }),

    secret: (name) =>
      use(async () => {
        await rows(sql.keepSecret, column(name), randomBytes(32))
        const [row] = await rows<{ value: Uint8Array }>(sql.secret, column(name))
        return new Uint8Array(row?.value ?? [])
      }),

    watch: watching.watch,
    now: clock.now,

    async close() {
      if (open) await close()
    },
  }
}

/** In the order of the statements' parameters. */
function changed(record: Parameters<TaskStore['create']>[0]) {
  const { runId, tool, state, expiresAt, dueAfter, refreshAfter, record: rest } = changingColumns(record)
  return { runId, tool, state, expiresAt, dueAfter, refreshAfter, updatedAt: record.updatedAt, rest }
}
