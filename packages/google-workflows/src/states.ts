import type { ReportedState } from '@runbridge/core'
import type { NativeState } from './executions-api.js'

interface StateRow {
  /** `unreadable`: Google itself can't read the execution, so it says nothing of the run. */
  readonly state: ReportedState | 'unreadable'
  readonly message: string
  readonly result: string
}

/** What each state of an execution becomes. Total: a state that the protos learn does not compile here. */
export const STATES: Readonly<Record<NativeState, StateRow>> = {
  STATE_UNSPECIFIED: { state: 'running', message: 'the raw word, and a warning in the log', result: '' },
  ACTIVE: { state: 'running', message: 'routine and step, iterations', result: '' },
  SUCCEEDED: { state: 'succeeded', message: 'duration', result: 'the parsed result' },
  FAILED: { state: 'failed', message: 'error and failing step', result: 'payload, context, failing step' },
  CANCELLED: { state: 'cancelled', message: 'why, where Google says so', result: '' },
  UNAVAILABLE: { state: 'unreadable', message: "not readable since T, and Google's reason", result: '' },
  QUEUED: { state: 'queued', message: 'waits for the concurrency quota of its location', result: '' },
}

/** The mapping as the documentation prints it: what the engine says, and what becomes of it. */
export const STATE_TABLE: readonly {
  readonly native: string
  readonly state: string
  readonly message: string
  readonly result: string
}[] = [
  ...Object.entries(STATES).map(([native, row]) => ({
    native,
    ...row,
    state: row.state === 'unreadable' ? 'unchanged' : row.state,
  })),
  {
    native: 'ACTIVE, an enabled callback waited for',
    state: 'waiting',
    message: "that step's question",
    result: '',
  },
  {
    native: 'any other state or number',
    state: 'running',
    message: 'the raw word, and a warning in the log',
    result: '',
  },
  {
    native: 'NOT_FOUND, the workflow readable',
    state: 'unchanged during the grace period, then lost',
    message: '',
    result: '',
  },
  {
    native: 'denied, expired, throttled, down',
    state: 'unchanged',
    message: 'not readable since T, and why',
    result: '',
  },
]

/** An unknown state is `running`: unknown is never success and never failure. */
export function stateOf(native: unknown, warn: (message: string) => void): StateRow['state'] {
  const known = typeof native === 'string' && Object.hasOwn(STATES, native)
  if (known && native !== 'STATE_UNSPECIFIED') return STATES[native as NativeState].state
  warn(`Google Workflows reports a state that is not known here: ${String(native)}. It is shown as running.`)
  return 'running'
}
