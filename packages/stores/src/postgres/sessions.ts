import { randomUUID } from 'node:crypto'
import type { SessionRecord, SessionStore } from '@runbridge/core'
import { column } from '../common/row.js'

/** How statements reach the database. `use` sends them again while it can't be reached. */
export interface Access {
  use<T>(operation: () => Promise<T>): Promise<T>
  rows<T>(text: string, ...values: unknown[]): Promise<T[]>
}

export function postgresSessions(schema: string, { use, rows }: Access): SessionStore {
  const sql = statements(schema)
  const changing = (session: SessionRecord) =>
    [column(session.id), session.seenAt, JSON.stringify(session)] as const

  /** What became of a write whose condition did not hold: a first sending may have done it. */
  const present = async (id: string, write: string) => {
    const [row] = await rows<{ written: string }>(sql.written, column(id))
    return row === undefined ? 'missing' : row.written === write ? 'mine' : 'other'
  }

  return {
    async create(session) {
      const write = randomUUID()
      return use(async () => {
        if ((await rows(sql.insert, ...changing(session), write)).length === 1) return 'created'
        return (await present(session.id, write)) === 'mine' ? 'created' : 'exists'
      })
    },

    get: (id) =>
      use(async () => {
        const [row] = await rows<{ version: string; record: string }>(sql.get, column(id))
        return row && { ...(JSON.parse(row.record) as SessionRecord), version: Number(row.version) }
      }),

    async update(session) {
      const write = randomUUID()
      return use(async () => {
        const done = await rows(sql.update, ...changing(session), write, session.version)
        if (done.length === 1) return 'updated'
        const outcomes = { missing: 'missing', mine: 'updated', other: 'conflict' } as const
        return outcomes[await present(session.id, write)]
      })
    },

    delete: (id) => use(async () => (await rows(sql.remove, column(id))).length === 1),

    sweep: (seenBefore, limit) => use(async () => (await rows(sql.sweep, seenBefore, limit)).length),
  }
}

function statements(schema: string) {
  const session = `"${schema}".session`
  return {
    insert: `
      insert into ${session} (id, version, seen_at, record, written) values ($1, 1, $2, $3, $4)
      on conflict do nothing returning 1 as made`,
    get: `select version, record from ${session} where id = $1`,
    written: `select written from ${session} where id = $1`,
    update: `
      update ${session} set version = version + 1, seen_at = $2, record = $3, written = $4
      where id = $1 and version = $5 returning 1 as changed`,
    remove: `delete from ${session} where id = $1 returning 1 as gone`,
    // Replicas that sweep at once each take others.
    sweep: `
      delete from ${session} where id = any(array(
        select id from ${session} where seen_at < $1 order by seen_at limit $2 for update skip locked))
      returning 1 as gone`,
  }
}
