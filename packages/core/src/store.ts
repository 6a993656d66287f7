import type { RunState } from './run.js'
import type { Owner, TaskKey, TaskRecord } from './task.js'

export interface TaskFilter {
  readonly tool?: string
  readonly states?: readonly RunState[]
  /** Created at or after, in ms since the epoch. */
  readonly since?: number
}

export interface TaskPage {
  /** Newest first by creation, then by task id. */
  readonly records: readonly TaskRecord[]
  /** Opaque; present whenever there is more. */
  readonly next?: string
}

export interface SweepResult {
  /** How many expired records were removed. */
  readonly removed: number
  /** Records that need somebody: starts past their deadline, and wishes to cancel that are still unsent. */
  readonly due: readonly TaskRecord[]
}

/** Who follows a run: several tasks may. */
export type RunQuery = { readonly runKey: string } | { readonly runId: string }

/**
 * Keeps task records. Every method is atomic on its own and durable when it returns (`memory` excepted); what
 * one call wrote every later call reads, in any process on the same store. Throws a RunbridgeError
 * `unavailable` when it can't be reached and `too_large` when a record does not fit; nothing is half done then.
 */
export interface TaskStore {
  /** Keeps a new record with `version` 1. `exists` leaves the present one as it is. */
  create(record: TaskRecord): Promise<'created' | 'exists'>
  get(key: TaskKey): Promise<TaskRecord | undefined>
  /**
   * Compare-and-set: replaces the record if its version is still `record.version`, and keeps it under
   * `record.version + 1`. Owner, task id, run key and creation time never change.
   */
  update(record: TaskRecord): Promise<'updated' | 'conflict' | 'missing'>
  /** Removes the record, if `version` is given only in that version. True when it was there and is gone. */
  delete(key: TaskKey, version?: number): Promise<boolean>
  /**
   * A page of an owner's records. `invalid_input` for a cursor that this store did not make.
   * @param limit 1 to 1000
   */
  list(owner: Owner, filter: TaskFilter, limit: number, cursor?: string): Promise<TaskPage>
  /** Every record that follows the run, any owner's and any attempt's. */
  byRun(query: RunQuery): Promise<readonly TaskRecord[]>
  /**
   * Removes what expired before `now` and names what is due.
   * @param limit how many records of each kind at most, so that one sweep stays short
   */
  sweep(now: number, limit: number): Promise<SweepResult>
  close(): Promise<void>
}
