import type { RunState } from '../../run.js'

/** `TaskStatus` of the extension (ext-tasks, "Task Status"). */
export const WIRE_STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const
export type WireStatus = (typeof WIRE_STATUSES)[number]

/**
 * What each state is on the wire. `asking`: a question is open and this caller can be asked. `failed` is only
 * for JSON-RPC errors, so a run that failed is `completed` with an `isError` result (ext-tasks, "Task
 * Execution Errors").
 */
export const STATES: Readonly<Record<RunState, { readonly plain: WireStatus; readonly asking: WireStatus }>> =
  {
    starting: { plain: 'working', asking: 'working' },
    queued: { plain: 'working', asking: 'working' },
    running: { plain: 'working', asking: 'working' },
    waiting: { plain: 'working', asking: 'input_required' },
    succeeded: { plain: 'completed', asking: 'completed' },
    failed: { plain: 'completed', asking: 'completed' },
    timed_out: { plain: 'completed', asking: 'completed' },
    cancelled: { plain: 'cancelled', asking: 'cancelled' },
    lost: { plain: 'failed', asking: 'failed' },
  }

export function wireStatus(state: RunState, asking: boolean): WireStatus {
  return STATES[state][asking ? 'asking' : 'plain']
}
