import type { ReportedState } from '@runbridge/core'

/** https://docs.github.com/en/rest/actions/workflow-runs, and the states of check runs behind it. */
type Status = 'requested' | 'queued' | 'pending' | 'waiting' | 'in_progress' | 'completed'
export const CONCLUSIONS = [
  'success',
  'failure',
  'neutral',
  'cancelled',
  'skipped',
  'timed_out',
  'action_required',
  'stale',
  'startup_failure',
] as const
export type Conclusion = (typeof CONCLUSIONS)[number]

interface StateRow {
  readonly state: ReportedState
  readonly message: string
  readonly result: string
}

/** What each status becomes while the run has not ended. */
export const STATUS_STATES: Readonly<Record<Exclude<Status, 'completed'>, StateRow>> = {
  requested: { state: 'queued', message: 'was requested', result: '' },
  queued: { state: 'queued', message: 'waits for a runner', result: '' },
  pending: { state: 'queued', message: 'waits for its concurrency group', result: '' },
  waiting: { state: 'running', message: 'which environment waits, and for whom', result: '' },
  in_progress: { state: 'running', message: 'job X: step 3 of 7', result: '' },
}

/** What each conclusion of a completed run becomes. */
export const CONCLUSION_STATES: Readonly<Record<Conclusion, StateRow>> = {
  success: {
    state: 'succeeded',
    message: 'duration',
    result: 'the result artifact, else conclusion and jobs',
  },
  neutral: { state: 'succeeded', message: 'duration', result: 'the same' },
  skipped: { state: 'succeeded', message: 'nothing ran', result: 'conclusion and jobs' },
  failure: {
    state: 'failed',
    message: 'first failed job and step',
    result: 'jobs, annotations, tail of the log',
  },
  startup_failure: { state: 'failed', message: 'did not start', result: 'conclusion' },
  timed_out: { state: 'timed_out', message: 'job and step', result: 'as for a failure' },
  cancelled: { state: 'cancelled', message: '', result: '' },
  stale: { state: 'lost', message: 'GitHub gave up on it', result: 'link' },
  action_required: { state: 'running', message: 'needs approval to run', result: '' },
}

/** The mapping as the documentation prints it: what GitHub says, and what becomes of it. */
export const STATE_TABLE: readonly ({ readonly native: string } & {
  readonly [K in keyof StateRow]: string
})[] = [
  ...Object.entries(STATUS_STATES).map(([native, row]) => ({ native, ...row })),
  {
    native: 'waiting, and the reviewer may approve',
    state: 'waiting',
    message: "the environment's question",
    result: '',
  },
  ...Object.entries(CONCLUSION_STATES).map(([native, row]) => ({ native: `completed: ${native}`, ...row })),
  {
    native: 'completed: action_required, and the reviewer may approve',
    state: 'waiting',
    message: 'the question about the fork',
    result: '',
  },
  {
    native: 'any other status or conclusion',
    state: 'running',
    message: 'the raw word, and a warning in the log',
    result: '',
  },
  {
    native: '404, the runs of the repository readable',
    state: 'unchanged during the grace period, then lost',
    message: '',
    result: '',
  },
  {
    native: 'denied, expired, limited, down, repository not shown',
    state: 'unchanged',
    message: 'not readable since T, and why',
    result: '',
  },
]

function isStatus(word: string): word is Exclude<Status, 'completed'> {
  return Object.hasOwn(STATUS_STATES, word)
}

function isConclusion(word: string): word is Conclusion {
  return Object.hasOwn(CONCLUSION_STATES, word)
}

export interface Native {
  readonly status: string
  readonly conclusion: string | undefined
}

/** An unknown word is `running`: unknown is never success and never failure. */
export function stateOf({ status, conclusion }: Native, warn: (message: string) => void): ReportedState {
  if (status === 'completed' && conclusion !== undefined && isConclusion(conclusion)) {
    return CONCLUSION_STATES[conclusion].state
  }
  if (isStatus(status)) return STATUS_STATES[status].state
  if (status !== 'completed' || conclusion !== undefined) {
    warn(
      `GitHub reports a run as ${nativeState({ status, conclusion })}, which is not known here. It is shown as running.`,
    )
  }
  return 'running'
}

/** GitHub's own word: the conclusion once there is one. */
export function nativeState({ status, conclusion }: Native): string {
  return status === 'completed' && conclusion !== undefined ? conclusion : status
}
