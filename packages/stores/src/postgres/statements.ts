import { RECORD_COLUMNS } from '../common/row.js'

/** What the store says to the database, by the operation that it is for. */
export function statements(schema: string) {
  const task = `"${schema}".task`
  const name = `"${schema}".name`
  const secret = `"${schema}".secret`
  return {
    insert: `
      insert into ${task} (owner, task_id, written, run_id, tool, state, expires_at, due_after, refresh_after,
                           updated_at, record, run_key, created_at, version)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 1)
      on conflict do nothing returning 1 as made`,
    get: `select ${RECORD_COLUMNS} from ${task} where owner = $1 and task_id = $2`,
    written: `select written from ${task} where owner = $1 and task_id = $2`,
    // Notifies of what clients can see (`updatedAt` moves with it) and not of every lease on a read.
    update: `
      with before as (select updated_at from ${task} where owner = $1 and task_id = $2),
      changed as (
        update ${task} set written = $3, run_id = $4, tool = $5, state = $6, expires_at = $7, due_after = $8,
                           refresh_after = $9, updated_at = $10, record = $11, version = version + 1
        where owner = $1 and task_id = $2 and version = $12 and run_key = $15
        returning updated_at),
      told as (
        select pg_notify($13, $14) from before, changed where before.updated_at <> changed.updated_at)
      select (select count(*) from changed) as updated, (select count(*) from told) as told`,
    remove: `
      delete from ${task} where owner = $1 and task_id = $2 and ($3::text is null or run_key = $3)
        and ($4::bigint is null or version = $4)
      returning 1 as gone`,
    list: `
      select ${RECORD_COLUMNS} from ${task}
      where owner = $1 and (created_at, task_id) < ($2, $3) and created_at >= $6
        and ($4::text is null or tool = $4) and ($5::text[] is null or state = any($5))
      order by created_at desc, task_id desc limit $7`,
    // The record is locked, so that it can't go before the name that points at it is there to go with it.
    claim: `
      with present as (select owner, task_id from ${task} where owner = $1 and task_id = $3 for key share)
      insert into ${name} (owner, name, task_id) select owner, $2, task_id from present
      on conflict (owner, name) do update set task_id = excluded.task_id
        where name.task_id = $4 or name.task_id = excluded.task_id
      returning task_id`,
    holder: `select task_id from ${name} where owner = $1 and name = $2`,
    byRunKey: `select ${RECORD_COLUMNS} from ${task} where run_key = $1`,
    byRunId: `select ${RECORD_COLUMNS} from ${task} where run_id = $1`,
    // Replicas that sweep at once each take others.
    expire: `
      delete from ${task} where ctid = any(array(
        select ctid from ${task} where expires_at < $1 order by expires_at limit $2 for update skip locked))
      returning 1 as gone`,
    due: `select ${RECORD_COLUMNS} from ${task} where due_after < $1 order by refresh_after limit $2`,
    keepSecret: `insert into ${secret} values ($1, $2) on conflict do nothing`,
    now: 'select extract(epoch from clock_timestamp())::double precision * 1000 as now',
    secret: `select value from ${secret} where name = $1`,
  }
}
