import type { SessionRecord, SessionStore } from '@runbridge/core'
import type Database from 'libsql'
import { column } from '../common/row.js'

/** What is used of a prepared statement; libsql's own type has no name that a declaration could use. */
interface Statement {
  run(...parameters: unknown[]): { readonly changes: number }
  get(...parameters: unknown[]): unknown
}
export type SessionStatements = Readonly<Record<'insert' | 'get' | 'update' | 'remove' | 'sweep', Statement>>

export function prepareSessions(db: Database.Database): SessionStatements {
  return {
    insert: db.prepare(`
      insert into session (id, version, seen_at, record) values (:id, 1, :seenAt, :record)
      on conflict do nothing`),
    get: db.prepare('select version, record from session where id = ?'),
    update: db.prepare(`
      update session set version = version + 1, seen_at = :seenAt, record = :record
      where id = :id and version = :version`),
    remove: db.prepare('delete from session where id = ?'),
    sweep: db.prepare(`
      delete from session where id in
        (select id from session where seen_at < ? order by seen_at limit ?)`),
  }
}

/** How operations reach the file: `write` has its lock. */
export interface Access {
  use<T>(operation: (statements: SessionStatements) => T): Promise<T>
  write<T>(operation: (statements: SessionStatements) => T): Promise<T>
}

export function sqliteSessions({ use, write }: Access): SessionStore {
  const columns = (session: SessionRecord) => ({
    id: column(session.id),
    seenAt: session.seenAt,
    record: JSON.stringify(session),
  })
  return {
    create: (session) =>
      write(({ insert }) => (insert.run(columns(session)).changes === 1 ? 'created' : 'exists')),
    get: (id) =>
      use(({ get }) => {
        const row = get.get(column(id)) as { version: number; record: string } | undefined
        return row && { ...(JSON.parse(row.record) as SessionRecord), version: row.version }
      }),
    update: (session) =>
      write(({ update, get }) => {
        if (update.run({ ...columns(session), version: session.version }).changes === 1) return 'updated'
        return get.get(column(session.id)) === undefined ? 'missing' : 'conflict'
      }),
    delete: (id) => write(({ remove }) => remove.run(column(id)).changes === 1),
    sweep: (seenBefore, limit) => write(({ sweep }) => sweep.run(seenBefore, limit).changes),
  }
}
