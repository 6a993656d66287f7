import type { RunState } from '../../run.js'
import type { TaskRecord } from '../../task.js'

/** The statuses of a task (SEP-1686, section 6). */
export const WIRE_STATUSES = [
  'submitted',
  'working',
  'input_required',
  'completed',
  'failed',
  'cancelled',
  'unknown',
] as const
export type WireStatus = (typeof WIRE_STATUSES)[number]

/** What besides the state decides the status. */
interface Situation {
  /** A question is open and this caller can be asked. */
  readonly asking: boolean
  /** The engine has been seen executing the run. */
  readonly begun: boolean
  /** The run is known; one whose start could not be settled is not. */
  readonly started: boolean
}

const always =
  (status: WireStatus) =>
  (_: Situation): WireStatus =>
    status

/**
 * What each state is on the wire. `submitted` is left once and for all when the engine is first seen executing
 * the run (4.3). `failed` is for the life of the task, not for the run, whose errors are results (7.2);
 * `unknown` only for a start that could not be settled.
 */
export const STATES: Readonly<Record<RunState, (situation: Situation) => WireStatus>> = {
  starting: always('submitted'),
  queued: ({ begun }) => (begun ? 'working' : 'submitted'),
  // Known to the engine and not looked at yet: the first look may still find it queued.
  running: ({ begun }) => (begun ? 'working' : 'submitted'),
  waiting: ({ asking }) => (asking ? 'input_required' : 'working'),
  succeeded: always('completed'),
  failed: always('completed'),
  timed_out: always('completed'),
  cancelled: always('cancelled'),
  lost: ({ started }) => (started ? 'failed' : 'unknown'),
}

export function wireStatus(record: TaskRecord, asking: boolean): WireStatus {
  const { begun = false, run } = record
  return STATES[record.state]({ asking, begun, started: run !== undefined })
}
