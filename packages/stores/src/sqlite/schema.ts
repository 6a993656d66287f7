import { RunbridgeError } from '@runbridge/core'
import type Database from 'libsql'
import { transaction } from './transaction.js'

/** Marks a file as ours in its header (PRAGMA application_id): "RunB". */
const APPLICATION_ID = 0x52756e42

/**
 * What takes a file from one schema version to the next. Entries are history: never change one, add another.
 *
 * Texts that callers choose are columns in the form that `column` gives them. `record` has what no other column
 * has, as JSON, and is the last: rows are filtered without reading its overflow pages.
 */
const MIGRATIONS: readonly string[] = [
  `create table task (
     owner text not null,
     task_id text not null,
     version integer not null,
     run_key text not null,
     run_id text,
     created_at integer not null,
     tool text not null,
     state text not null,
     expires_at integer,
     due_after integer,
     refresh_after integer not null,
     record text not null
   );
   create unique index task_by_id on task (owner, task_id);
   create index task_by_creation on task (owner, created_at, task_id);
   create index task_by_run_key on task (run_key);
   create index task_by_run_id on task (run_id) where run_id is not null;
   create index task_by_expiry on task (expires_at) where expires_at is not null;
   create index task_by_due on task (due_after) where due_after is not null;`,

  `create table secret (name text primary key, value blob not null) without rowid;`,

  `create table name (
     owner text not null,
     name text not null,
     task_id text not null,
     primary key (owner, name)
   ) without rowid;
   create index name_by_task on name (owner, task_id);
   create trigger name_goes_with_its_task after delete on task begin
     delete from name where owner = old.owner and task_id = old.task_id;
   end;`,

  `create table session (
     id text primary key,
     version integer not null,
     seen_at integer not null,
     record text not null
   ) without rowid;
   create index session_by_use on session (seen_at);`,
]

export const SCHEMA_VERSION = MIGRATIONS.length

/** Brings the file to this code's schema. Several processes may do so at once: one does, the others find it done. */
export function migrate(db: Database.Database, path: string): void {
  if (versionOf(db, path) === SCHEMA_VERSION) return
  transaction(db, () => {
    const present = versionOf(db, path)
    if (present === SCHEMA_VERSION) return
    for (const migration of MIGRATIONS.slice(present)) db.exec(migration)
    db.exec(`pragma application_id = ${APPLICATION_ID}`)
    db.exec('create table if not exists schema_version (version integer not null)')
    db.exec(`delete from schema_version; insert into schema_version values (${SCHEMA_VERSION})`)
  })
}

/** 0 for an empty file. Throws `misconfigured` for a file that is not ours, or newer than this code. */
function versionOf(db: Database.Database, path: string): number {
  const tables = number(db, 'select count(*) as value from sqlite_master')
  if (tables === 0) return 0
  if (number(db, 'select application_id as value from pragma_application_id') !== APPLICATION_ID) {
    throw new RunbridgeError(
      'misconfigured',
      `${path} is an SQLite database of another program. Name a file of its own for the task store.`,
    )
  }
  const version = number(db, 'select version as value from schema_version')
  if (version <= SCHEMA_VERSION) return version
  throw new RunbridgeError(
    'misconfigured',
    `${path} was written by a newer Runbridge: its schema is ${version}, this one knows up to ` +
      `${SCHEMA_VERSION}. Update Runbridge, or name another file for the task store.`,
  )
}

function number(db: Database.Database, sql: string): number {
  return (db.prepare(sql).get() as { value: number }).value
}
