import type { ExecutionStatus } from '@aws-sdk/client-sfn'
import type { ReportedState } from '@runbridge/core'

interface StateRow {
  readonly state: ReportedState
  readonly message: string
  readonly result: string
}

/** What each status of an execution becomes. Total: a status that the SDK learns does not compile here. */
export const STATES: Readonly<Record<ExecutionStatus, StateRow>> = {
  RUNNING: { state: 'running', message: 'current state, iterations, retries', result: '' },
  SUCCEEDED: { state: 'succeeded', message: 'duration', result: 'the parsed output' },
  FAILED: { state: 'failed', message: 'error and cause, cut', result: 'error, cause, failing state' },
  TIMED_OUT: { state: 'timed_out', message: 'timed out', result: 'States.Timeout' },
  ABORTED: { state: 'cancelled', message: 'why, and whether it was stopped from outside', result: '' },
  PENDING_REDRIVE: { state: 'running', message: 'waits to be redriven', result: '' },
}

/** The mapping as the documentation prints it: what the engine says, and what becomes of it. */
export const STATE_TABLE: readonly {
  readonly native: string
  readonly state: string
  readonly message: string
  readonly result: string
}[] = [
  ...Object.entries(STATES).map(([native, row]) => ({ native, ...row })),
  {
    native: 'RUNNING, an enabled task token open',
    state: 'waiting',
    message: "that state's question",
    result: '',
  },
  {
    native: 'any other status',
    state: 'running',
    message: 'the raw word, and a warning in the log',
    result: '',
  },
  {
    native: 'ExecutionDoesNotExist, the state machine readable',
    state: 'unchanged during the grace period, then lost',
    message: '',
    result: '',
  },
  {
    native: 'denied, expired, throttled, wrong region, down',
    state: 'unchanged',
    message: 'not readable since T, and why',
    result: '',
  },
]

/** An unknown status is `running`: unknown is never success and never failure. */
export function stateOf(status: string | undefined, warn: (message: string) => void): ReportedState {
  if (status !== undefined && Object.hasOwn(STATES, status)) return STATES[status as ExecutionStatus].state
  warn(`Step Functions reports a status that is not known here: ${status}. It is shown as running.`)
  return 'running'
}
