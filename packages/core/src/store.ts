import type { RunState } from './run.js'
import type { Owner, TaskKey, TaskRecord } from './task.js'

export interface TaskFilter {
  readonly tool?: string
  readonly states?: readonly RunState[]
  /** Created at or after, in ms since the epoch. */
  readonly since?: number
}

export interface TaskPage {
  /** Newest first by creation; those of one moment by task id, in an order of the store's own that never changes. */
  readonly records: readonly TaskRecord[]
  /** Opaque; present whenever there is more. */
  readonly next?: string
}

export interface SweepResult {
  /** How many expired records were removed. */
  readonly removed: number
  /**
   * Records that need somebody, as `dueAfter` says: starts past their deadline, wishes to cancel that are still
   * unsent while the run may go on, and runs that nobody follows. Of more than `limit`, those with the smallest `refreshAfter`, so that some that can't be
   * settled yet do not keep the others waiting; of runs that nobody follows as exactly as `IDLE_STEP_MS` tells them apart.
   */
  readonly due: readonly TaskRecord[]
}

/** What a store may be unable to do, each with what needs it. */
export const STORE_CAPABILITIES = [
  /** `list`: the tasks of an owner, and how many are open. */
  'list',
  /** `delete`, so that an id is unknown before its time. */
  'delete',
  /** `claim`: idempotency keys. */
  'claim',
  /** `byRun`: events of engines. */
  'byRun',
  /**
   * `create` and `update` keep what they are given, also under an id that a client made: the older wire forms,
   * and starts that are sent again and must find themselves.
   */
  'update',
] as const
export type StoreCapability = (typeof STORE_CAPABILITIES)[number]

/** One record among all that an id ever stands for, in any of its versions or in one. */
export interface OnlyRecord {
  readonly runKey: string
  readonly version?: number
}

/** Who follows a run: several tasks may. */
export type RunQuery = { readonly runKey: string } | { readonly runId: string }

/**
 * Keeps task records. Every method is atomic on its own and durable when it returns (`memory` excepted); what
 * one call wrote every later call reads, in any process on the same store. Throws a RunbridgeError
 * `unavailable` when it can't be reached or is closed, and `too_large` when a record does not fit; nothing is
 * half done then. Strings are compared exactly: by code unit, never folded or normalised.
 */
export interface TaskStore {
  /**
   * What this store can't do, and why, as the end of a sentence: its methods throw `unsupported` then, or keep
   * nothing. Default: it can do everything.
   */
  readonly lacks?: Readonly<Partial<Record<StoreCapability, string>>>
  /** Keeps a new record with `version` 1. `exists` leaves the present one as it is. */
  create(record: TaskRecord): Promise<'created' | 'exists'>
  get(key: TaskKey): Promise<TaskRecord | undefined>
  /**
   * Compare-and-set: replaces the record if it is still the same one, by its run key, and its version is still
   * `record.version`, and keeps it under `record.version + 1`. Anything else that is there is a `conflict` and stays as it
   * is: the version alone would not do, since a client that makes its ids may use one again once its record is gone, and
   * versions begin anew then. Owner, task id and creation time stay as they were created, whatever `record` says.
   */
  update(record: TaskRecord): Promise<'updated' | 'conflict' | 'missing'>
  /**
   * Removes the record; with `only` if it is the one with that run key and, where one is given, in that version. True when
   * it was there and is gone.
   */
  delete(key: TaskKey, only?: OnlyRecord): Promise<boolean>
  /**
   * A page of an owner's records. What is not written meanwhile shows exactly once on the way through all pages.
   * `invalid_input` for a cursor that this store did not make, or a limit out of range.
   * @param limit 1 to 1000
   */
  list(owner: Owner, filter: TaskFilter, limit: number, cursor?: string): Promise<TaskPage>
  /**
   * Points a name of the owner at one of its tasks, by compare-and-set: where the name points at nothing, or at
   * `holder`. Returns the id that it points at afterwards, which is another one where another task has the name.
   * A name goes with the record that it points at, and does not come back when the id is used again. A task without
   * a record gets no name; undefined is returned then, where the name points at nothing.
   */
  claim(owner: Owner, name: string, taskId: string, holder?: string): Promise<string | undefined>
  /** Every record that follows the run, any owner's and any attempt's. */
  byRun(query: RunQuery): Promise<readonly TaskRecord[]>
  /**
   * Removes what expired before `now` and names what is due then, a start only once its deadline lies before
   * `now`. Clocks may jump: nothing is remembered from one call to the next.
   * @param limit how many records of each kind at most, so that one sweep stays short
   */
  sweep(now: number, limit: number): Promise<SweepResult>
  /**
   * Tells of changes that other processes made, from now on: of a task, or of any task where `key` is absent, since
   * some may have been missed. Only hints to read again: they may come late, twice, and for nothing. Returns the way
   * to stop. Absent where the store can't tell, and whoever waits looks at intervals.
   */
  watch?(onChange: (key?: TaskKey) => void): () => void
  /**
   * The id under which `get` finds this record, where the id itself is the record: it is known only after the start,
   * and `get` gives the record as it was then, however often it was updated. Absent where records are found under
   * the ids that they are created with.
   */
  idOf?(record: TaskRecord): string
  /**
   * What time it is by the store's own clock, in ms since the epoch, so that all processes on it agree, however wrong
   * their own clocks are. Answers at once, from when the store was asked last. Absent where the store has no clock.
   */
  now?(): number
  close(): Promise<void>
}

/** Secrets that all processes on one store share, such as the key that seals request states. */
export interface SecretStore {
  /** 32 random bytes under this name: made by whoever asks first, the same for everybody ever after. */
  secret(name: string): Promise<Uint8Array>
}
