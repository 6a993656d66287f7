import { randomUUID } from 'node:crypto'
import type { SessionRecord, SessionStore } from '@runbridge/core'
import { asKey, type tableAccess } from './access.js'
import type { Attributes, Item } from './client.js'
import { SESSION_DUE, sessionKey } from './item.js'
import { DUE_INDEX } from './table.js'
import type { Condition, tableWrites } from './writes.js'

/** Nobody goes on with a session after that, in ms: for what no sweeper removed. */
const LONGEST_PAUSE_MS = 30 * 86_400_000

export function dynamodbSessions(
  { read, query }: ReturnType<typeof tableAccess>,
  { put, take }: ReturnType<typeof tableWrites>,
  use: <T>(operation: () => Promise<T>) => Promise<T>,
): SessionStore {
  const itemOf = (session: SessionRecord, version: number) => ({
    plain: { S: JSON.stringify({ ...session, version }) },
    version: { N: String(version) },
    due: { S: SESSION_DUE },
    dueAt: { N: String(session.seenAt) },
    ttl: { N: String(Math.max(0, Math.ceil((session.seenAt + LONGEST_PAUSE_MS) / 1000))) },
    written: { S: randomUUID() },
  })
  const toSession = (item: Item) => JSON.parse(item.plain?.S ?? '') as SessionRecord

  return {
    create: (session) =>
      use(async () =>
        (await put(sessionKey(session.id), itemOf(session, 1), 'written')) ? 'created' : 'exists',
      ),

    get: (id) =>
      use(async () => {
        const item = await read(sessionKey(id))
        return item && toSession(item)
      }),

    update: (session) =>
      use(async () => {
        const key = sessionKey(session.id)
        const unchanged: Condition = {
          expression: 'version = :version',
          values: { ':version': { N: String(session.version) } },
        }
        if (await put(key, itemOf(session, session.version + 1), 'written', unchanged)) return 'updated'
        return (await read(key)) === undefined ? 'missing' : 'conflict'
      }),

    delete: (id) => use(async () => (await take(sessionKey(id))) !== undefined),

    sweep: (seenBefore, limit) =>
      use(async () => {
        const before: Attributes = { ':before': { N: String(seenBefore) } }
        const idle = query({
          IndexName: DUE_INDEX,
          KeyConditionExpression: '#due = :due and #at < :before',
          ExpressionAttributeNames: { '#due': 'due', '#at': 'dueAt' },
          ExpressionAttributeValues: { ...before, ':due': { S: SESSION_DUE } },
          Limit: Math.min(limit, 100),
        })
        let removed = 0
        for await (const { pk = {}, sk = {} } of idle) {
          if (removed === limit) break
          // The index may lag behind a request that has just used it.
          const unused = { expression: 'dueAt < :before', values: before }
          if (await take(asKey({ pk, sk }), unused)) removed += 1
        }
        return removed
      }),
  }
}
