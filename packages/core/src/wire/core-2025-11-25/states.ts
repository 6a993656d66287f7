import type { RunState } from '../../run.js'

/** `TaskStatus` (2025-11-25 basic/utilities/tasks, "Task Status"). */
export const WIRE_STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const
export type WireStatus = (typeof WIRE_STATUSES)[number]

/**
 * What each state is on the wire. `asking`: a question is open and this caller can be asked. A tool result with
 * `isError` makes the task `failed` here ("Task Execution Errors"), other than in the extension.
 */
export const STATES: Readonly<Record<RunState, { readonly plain: WireStatus; readonly asking: WireStatus }>> =
  {
    starting: { plain: 'working', asking: 'working' },
    queued: { plain: 'working', asking: 'working' },
    running: { plain: 'working', asking: 'working' },
    waiting: { plain: 'working', asking: 'input_required' },
    succeeded: { plain: 'completed', asking: 'completed' },
    failed: { plain: 'failed', asking: 'failed' },
    timed_out: { plain: 'failed', asking: 'failed' },
    cancelled: { plain: 'cancelled', asking: 'cancelled' },
    lost: { plain: 'failed', asking: 'failed' },
  }

export function wireStatus(state: RunState, asking: boolean): WireStatus {
  return STATES[state][asking ? 'asking' : 'plain']
}
