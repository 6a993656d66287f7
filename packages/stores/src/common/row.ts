import { dueAfter, expiresAt, type TaskRecord } from '@runbridge/core'

/** The columns that make a record again, in the order of `select`. */
export const RECORD_COLUMNS = 'owner, task_id, version, run_key, created_at, record'

export interface RecordRow {
  readonly owner: string
  readonly task_id: string
  readonly version: number
  readonly run_key: string
  readonly created_at: number
  readonly record: string
}

/**
 * A text as a column. SQLite keeps UTF-8 and its callers read to the first NUL, so that lone surrogates would
 * become one character and texts with NUL others: the escapes of JSON keep every two texts apart, and leave
 * ordinary ones as they are.
 */
export function column(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

export function fromColumn(text: string): string {
  return JSON.parse(`"${text}"`) as string
}

/** What an update may change, as parameters. */
export function changingColumns(record: TaskRecord) {
  const { owner, taskId, version, runKey, createdAt, ...rest } = record
  return {
    runId: record.run === undefined ? null : column(record.run.id),
    tool: column(record.tool),
    state: record.state,
    expiresAt: expiresAt(record) ?? null,
    dueAfter: dueAfter(record) ?? null,
    refreshAfter: record.refreshAfter,
    record: JSON.stringify(rest),
  }
}

export function toRecord(row: RecordRow): TaskRecord {
  return {
    ...(JSON.parse(row.record) as Omit<TaskRecord, 'owner' | 'taskId' | 'version' | 'runKey' | 'createdAt'>),
    owner: fromColumn(row.owner),
    taskId: fromColumn(row.task_id),
    version: row.version,
    runKey: fromColumn(row.run_key),
    createdAt: row.created_at,
  }
}
