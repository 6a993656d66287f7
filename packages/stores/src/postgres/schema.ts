import { RunbridgeError } from '@runbridge/core'
import type { PostgresPool } from './pool.js'

/**
 * What takes a schema from one version to the next; `S` stands for its quoted name. Entries are history: never
 * change one, add another.
 *
 * Texts that callers choose are columns in the form that `column` gives them, compared byte by byte whatever the
 * database's locale and its version. Times are doubles, as JavaScript has them. `record` has what no other column
 * has, as JSON in a text: `json` types refuse or change some of it. `written` names the last write, so that one
 * that was sent twice knows itself.
 */
const MIGRATIONS: readonly string[] = [
  `create table S.task (
     owner text collate "C" not null,
     task_id text collate "C" not null,
     version bigint not null,
     run_key text collate "C" not null,
     run_id text collate "C",
     created_at double precision not null,
     updated_at double precision not null,
     tool text collate "C" not null,
     state text not null,
     expires_at double precision,
     due_after double precision,
     refresh_after double precision not null,
     written text not null,
     record text not null,
     primary key (owner, task_id)
   );
   create index task_by_creation on S.task (owner, created_at, task_id);
   create index task_by_run_key on S.task (run_key);
   create index task_by_run_id on S.task (run_id) where run_id is not null;
   create index task_by_expiry on S.task (expires_at) where expires_at is not null;
   create index task_by_due on S.task (due_after) where due_after is not null;
   create table S.secret (name text collate "C" primary key, value bytea not null);`,

  `create table S.name (
     owner text collate "C" not null,
     name text collate "C" not null,
     task_id text collate "C" not null,
     primary key (owner, name),
     foreign key (owner, task_id) references S.task on delete cascade
   );
   create index name_by_task on S.name (owner, task_id);`,

  `create table S.session (
     id text collate "C" primary key,
     version bigint not null,
     seen_at double precision not null,
     written text not null,
     record text not null
   );
   create index session_by_use on S.session (seen_at);`,
]

export const SCHEMA_VERSION = MIGRATIONS.length

/** Any number that no other program takes for its advisory locks: "RunB". Two keys, so that schemas don't meet. */
const LOCK = 0x52756e42

/**
 * Brings the schema to this code's version. Of several processes that do so at once one does, the others wait for
 * its transaction and find it done: a lock of the transaction, which poolers keep where they break those of sessions.
 */
export async function migrate(pool: PostgresPool, schema: string, subject: string): Promise<void> {
  if ((await versionOf(pool, schema, subject)) === SCHEMA_VERSION) return
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1, hashtext($2))', [LOCK, schema])
    const present = await versionOf(client, schema, subject)
    if (present < SCHEMA_VERSION) {
      if (present === 0) await client.query(`create schema if not exists "${schema}"`)
      await client.query(`create table if not exists "${schema}".schema_version (version integer not null)`)
      for (const migration of MIGRATIONS.slice(present))
        await client.query(migration.replaceAll(/\bS\./g, `"${schema}".`))
      await client.query(`delete from "${schema}".schema_version`)
      await client.query(`insert into "${schema}".schema_version values ($1)`, [SCHEMA_VERSION])
    }
    await client.query('commit')
    client.release()
  } catch (thrown) {
    // Ends the transaction whatever state the connection is in.
    client.release(true)
    throw thrown
  }
}

/** 0 where there is nothing. Throws `misconfigured` for a schema of somebody else, or one newer than this code. */
async function versionOf(
  pool: Pick<PostgresPool, 'query'>,
  schema: string,
  subject: string,
): Promise<number> {
  const { rows: tables } = await pool.query(
    'select table_name::text as name from information_schema.tables where table_schema = $1',
    [schema],
  )
  const names = tables.map(({ name }) => name)
  if (names.length === 0) return 0
  if (!names.includes('schema_version')) {
    throw new RunbridgeError(
      'misconfigured',
      `${subject} has tables of another program in its schema ${schema}. Name a schema for the task store alone.`,
    )
  }
  const { rows } = await pool.query(`select version from "${schema}".schema_version`)
  const version = Number(rows[0]?.version)
  if (version <= SCHEMA_VERSION) return version
  throw new RunbridgeError(
    'misconfigured',
    `${subject} was written by a newer Runbridge: its schema is ${version}, this one knows up to ` +
      `${SCHEMA_VERSION}. Update Runbridge, or name another database or schema for the task store.`,
  )
}
