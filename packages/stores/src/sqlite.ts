import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type KeepsSessions, RunbridgeError, type SecretStore, type TaskStore } from '@runbridge/core'
import type Database from 'libsql'
import { checkLimit, decodeCursor, encodeCursor } from './common/cursor.js'
import {
  changingColumns,
  column,
  fromColumn,
  RECORD_COLUMNS,
  type RecordRow,
  toRecord,
} from './common/row.js'
import { isBusy, storeError } from './sqlite/errors.js'
import { openDatabase } from './sqlite/open.js'
import { prepareSessions, sqliteSessions } from './sqlite/sessions.js'
import { transaction } from './sqlite/transaction.js'

export interface SqliteOptions {
  /** The database file, on a local disk. Made when it is missing, readable by its owner only; its folder must exist. */
  readonly path: string
  /** How long an operation waits for other processes before it is `unavailable`, in ms. Default 5000. */
  readonly busyTimeoutMs?: number
}

/**
 * Task records in one SQLite file, for one machine: several processes may share the file. What a method wrote
 * is on the disk when it returns (WAL with synchronous=FULL): a handle that a client has survives a crash of
 * the process, of the system, and a loss of power.
 *
 * On libsql, which has the API of better-sqlite3 and comes as prebuilt binaries from the registry itself.
 * better-sqlite3 12 fetches its binaries from elsewhere and compiles SQLite for a minute or more where it can't
 * (libsql: about a second); its version 13 needs Node 22.
 *
 * Opens the file at once. Throws `misconfigured` for a path that can't be a task store and a file of a newer
 * Runbridge, `unavailable` when others keep it locked.
 */
export function sqlite({
  path,
  busyTimeoutMs = 5000,
}: SqliteOptions): TaskStore & SecretStore & KeepsSessions {
  // Statements keep libsql's connection open, even past its close: they go with it.
  let connection: Connection | undefined = prepare(openDatabase(path, busyTimeoutMs))

  /** Waits outside the event loop while another process has the write lock. */
  async function use<T>(operation: (connection: Connection) => T): Promise<T> {
    const deadline = performance.now() + busyTimeoutMs
    for (;;) {
      if (connection === undefined) throw new RunbridgeError('unavailable', 'The task store is closed.')
      try {
        return operation(connection)
      } catch (thrown) {
        if (!isBusy(thrown) || performance.now() >= deadline) throw storeError(thrown, 'The task store')
      }
      await delay(1 + Math.random() * 20)
    }
  }

  const write = <T>(operation: (connection: Connection) => T) =>
    use((connection) => transaction(connection.db, () => operation(connection)))

  return {
    sessions: sqliteSessions({
      use: (operation) => use(({ sessions }) => operation(sessions)),
      write: (operation) => write(({ sessions }) => operation(sessions)),
    }),

    create: (record) =>
      write(({ insert }) => {
        const { owner, taskId, runKey, createdAt } = record
        const { changes } = insert.run({
          ...changingColumns(record),
          owner: column(owner),
          taskId: column(taskId),
          runKey: column(runKey),
          createdAt,
        })
        return changes === 1 ? 'created' : 'exists'
      }),

    get: ({ owner, taskId }) =>
      use(({ get }) => {
        const row = get.get(column(owner), column(taskId)) as RecordRow | undefined
        return row && toRecord(row)
      }),

    update: (record) =>
      write(({ update, has }) => {
        const key = { owner: column(record.owner), taskId: column(record.taskId) }
        const change = {
          ...changingColumns(record),
          ...key,
          runKey: column(record.runKey),
          version: record.version,
        }
        if (update.run(change).changes === 1) return 'updated'
        return has.get(key.owner, key.taskId) === undefined ? 'missing' : 'conflict'
      }),

    delete: ({ owner, taskId }, only) =>
      write(({ remove }) => {
        const { runKey, version = null } = only ?? {}
        const key = runKey === undefined ? null : column(runKey)
        return remove.run(column(owner), column(taskId), key, version).changes === 1
      }),

    list: (owner, { tool, states, since }, limit, cursor) =>
      use(({ list }) => {
        checkLimit(limit)
        const after = cursor === undefined ? undefined : decodeCursor(cursor)
        const rows = list.all({
          owner: column(owner),
          createdAt: after?.createdAt ?? Number.MAX_VALUE,
          taskId: column(after?.taskId ?? ''),
          tool: tool === undefined ? null : column(tool),
          states: states === undefined ? null : JSON.stringify(states),
          since: since ?? -Number.MAX_VALUE,
          limit: limit + 1,
        }) as RecordRow[]
        const records = rows.slice(0, limit).map(toRecord)
        const last = records.at(-1)
        return rows.length > limit && last ? { records, next: encodeCursor(last) } : { records }
      }),

    claim: (owner, name, taskId, holder) =>
      write(({ claim, holderOf }) => {
        const key = { owner: column(owner), name: column(name) }
        claim.run({ ...key, taskId: column(taskId), holder: holder === undefined ? null : column(holder) })
        const row = holderOf.get(key.owner, key.name) as { task_id: string } | undefined
        return row && fromColumn(row.task_id)
      }),

    byRun: (query) =>
      use(({ byRunKey, byRunId }) => {
        const rows = 'runKey' in query ? byRunKey.all(column(query.runKey)) : byRunId.all(column(query.runId))
        return (rows as RecordRow[]).map(toRecord)
      }),

    sweep: (now, limit) =>
      write(({ expire, due }) => ({
        removed: expire.run(now, limit).changes,
        due: (due.all(now, limit) as RecordRow[]).map(toRecord),
      })),

    secret: (name) =>
      write(({ keepSecret, secret }) => {
        keepSecret.run(column(name), randomBytes(32))
        const { value } = secret.get(column(name)) as { value: Uint8Array }
        return new Uint8Array(value)
      }),

    async close() {
      const closing = connection
      connection = undefined
      if (closing === undefined) return
      try {
        // So that the file alone has everything while no process works on it.
        closing.db.pragma('wal_checkpoint(TRUNCATE)')
      } catch {
        // Another process is at it: the log stays, and whoever opens the file next reads it.
      }
      closing.db.close()
    },
  }
}

type Connection = ReturnType<typeof prepare>

function prepare(db: Database.Database) {
  return {
    db,
    sessions: prepareSessions(db),
    insert: db.prepare<object>(`
      insert into task (owner, task_id, version, run_key, run_id, created_at, tool, state, expires_at, due_after,
                        refresh_after, record)
      values (:owner, :taskId, 1, :runKey, :runId, :createdAt, :tool, :state, :expiresAt, :dueAfter,
              :refreshAfter, :record)
      on conflict do nothing`),
    get: db.prepare(`select ${RECORD_COLUMNS} from task where owner = ? and task_id = ?`),
    has: db.prepare('select 1 from task where owner = ? and task_id = ?'),
    update: db.prepare<object>(`
      update task set version = version + 1, run_id = :runId, tool = :tool, state = :state,
                      expires_at = :expiresAt, due_after = :dueAfter, refresh_after = :refreshAfter,
                      record = :record
      where owner = :owner and task_id = :taskId and run_key = :runKey and version = :version`),
    remove: db.prepare(`
      delete from task where owner = ?1 and task_id = ?2 and (?3 is null or run_key = ?3)
        and (?4 is null or version = ?4)`),
    list: db.prepare<object>(`
      select ${RECORD_COLUMNS} from task
      where owner = :owner and (created_at, task_id) < (:createdAt, :taskId) and created_at >= :since
        and (:tool is null or tool = :tool)
        and (:states is null or state in (select value from json_each(:states)))
      order by created_at desc, task_id desc limit :limit`),
    claim: db.prepare<object>(`
      insert into name (owner, name, task_id) select owner, :name, task_id from task
      where owner = :owner and task_id = :taskId
      on conflict do update set task_id = excluded.task_id where name.task_id = :holder`),
    holderOf: db.prepare('select task_id from name where owner = ? and name = ?'),
    byRunKey: db.prepare(`select ${RECORD_COLUMNS} from task where run_key = ?`),
    byRunId: db.prepare(`select ${RECORD_COLUMNS} from task where run_id = ?`),
    expire: db.prepare(`
      delete from task where rowid in
        (select rowid from task where expires_at < ? order by expires_at limit ?)`),
    due: db.prepare(`
      select ${RECORD_COLUMNS} from task where due_after < ? order by refresh_after limit ?`),
    keepSecret: db.prepare('insert into secret (name, value) values (?, ?) on conflict do nothing'),
    secret: db.prepare('select value from secret where name = ?'),
  }
}
