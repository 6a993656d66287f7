import { randomBytes } from 'node:crypto'
import {
  dueAfter,
  expiresAt,
  type KeepsSessions,
  type Owner,
  RunbridgeError,
  type SecretStore,
  type TaskFilter,
  type TaskKey,
  type TaskRecord,
  type TaskStore,
} from '@runbridge/core'
import { checkLimit, decodeCursor, encodeCursor, type Position } from './common/cursor.js'
import { memorySessions } from './memory/sessions.js'

/**
 * Task records in this process, gone with it: for tests and for trying things out. Tasks that run in an engine
 * outlive the process, so a server that forgets their handles is not for production.
 */
export function memory(): TaskStore & SecretStore & KeepsSessions {
  // As JSON text, as any other store has it: nobody shares an object with it.
  const records = new Map<string, string>()
  const secrets = new Map<string, Uint8Array>()
  const names = new Map<string, TaskKey>()
  let open = true

  const keyOf = ({ owner, taskId }: TaskKey) => JSON.stringify([owner, taskId])
  const put = (record: TaskRecord) => records.set(keyOf(record), JSON.stringify(record))
  const read = (key: TaskKey): TaskRecord | undefined => {
    const text = records.get(keyOf(key))
    return text === undefined ? undefined : (JSON.parse(text) as TaskRecord)
  }
  const all = () => [...records.values()].map((text) => JSON.parse(text) as TaskRecord)
  const remove = (key: TaskKey): boolean => {
    const removed = records.delete(keyOf(key))
    for (const [name, target] of names) if (keyOf(target) === keyOf(key)) names.delete(name)
    return removed
  }
  const whileOpen = () => {
    if (!open) throw new RunbridgeError('unavailable', 'The task store in memory is closed.')
  }

  return {
    sessions: memorySessions(whileOpen),

    async create(record) {
      whileOpen()
      if (records.has(keyOf(record))) return 'exists'
      put({ ...record, version: 1 })
      return 'created'
    },

    async get(key) {
      whileOpen()
      return read(key)
    },

    async update(record) {
      whileOpen()
      const present = read(record)
      if (present === undefined) return 'missing'
      if (present.runKey !== record.runKey || present.version !== record.version) return 'conflict'
      const { createdAt, version } = present
      put({ ...record, createdAt, version: version + 1 })
      return 'updated'
    },

    async delete(key, only) {
      whileOpen()
      const present = read(key)
      if (only && present?.runKey !== only.runKey) return false
      if (only?.version !== undefined && present?.version !== only.version) return false
      return remove(key)
    },

    async list(owner, filter, limit, cursor) {
      whileOpen()
      checkLimit(limit)
      const after = cursor === undefined ? undefined : decodeCursor(cursor)
      const matching = all()
        .filter((record) => matches(record, owner, filter) && (!after || newestFirst(after, record) < 0))
        .sort(newestFirst)
      const page = matching.slice(0, limit)
      const last = page.at(-1)
      return matching.length > limit && last ? { records: page, next: encodeCursor(last) } : { records: page }
    },

    async claim(owner, name, taskId, holder) {
      whileOpen()
      const key = JSON.stringify([owner, name])
      const present = names.get(key)?.taskId
      if (present !== undefined && present !== holder) return present
      if (!records.has(keyOf({ owner, taskId }))) return present
      names.set(key, { owner, taskId })
      return taskId
    },

    async byRun(query) {
      whileOpen()
      return all().filter((record) =>
        'runKey' in query ? record.runKey === query.runKey : record.run?.id === query.runId,
      )
    },

    async sweep(now, limit) {
      whileOpen()
      const expired = all().filter((record) => (expiresAt(record) ?? now) < now)
      const removed = expired.slice(0, limit)
      for (const record of removed) remove(record)
      const due = all()
        .filter((record) => (dueAfter(record) ?? now) < now)
        .sort((a, b) => a.refreshAfter - b.refreshAfter)
      return { removed: removed.length, due: due.slice(0, limit) }
    },

    async secret(name) {
      whileOpen()
      const present = secrets.get(name) ?? new Uint8Array(randomBytes(32))
      secrets.set(name, present)
      return present.slice()
    },

    async close() {
      open = false
    },
  }
}

function matches(record: TaskRecord, owner: Owner, { tool, states, since }: TaskFilter): boolean {
  return (
    record.owner === owner &&
    (tool === undefined || record.tool === tool) &&
    (states === undefined || states.includes(record.state)) &&
    (since === undefined || record.createdAt >= since)
  )
}

function newestFirst(a: Position, b: Position): number {
  return b.createdAt - a.createdAt || (a.taskId < b.taskId ? 1 : a.taskId > b.taskId ? -1 : 0)
}
