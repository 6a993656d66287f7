import type { Review } from './run.js'

/** The conclusions of jobs and steps, as GitHub has them. */
export type StepConclusion =
  | 'success'
  | 'failure'
  | 'neutral'
  | 'cancelled'
  | 'skipped'
  | 'timed_out'
  | 'action_required'
export type Conclusion = StepConclusion | 'stale' | 'startup_failure'

export interface StepScript {
  readonly name: string
  /** How long it takes. Default 0; `Infinity` until the run is cancelled. */
  readonly ms?: number
  /** Default `success`. After a failure the steps that follow are skipped. */
  readonly conclusion?: StepConclusion
  /** The lines it prints, without timestamps. Default none. */
  readonly log?: readonly string[]
}

export interface AnnotationScript {
  readonly path: string
  readonly line: number
  /** Default `failure`. */
  readonly level?: 'notice' | 'warning' | 'failure'
  readonly title?: string
  readonly message: string
}

export interface JobScript {
  readonly name: string
  /** Names of jobs that must succeed first; when one does not, this one is skipped. */
  readonly needs?: readonly string[]
  /** Waits for a review where the environment has reviewers. */
  readonly environment?: string
  /** How long it waits for a runner. Default 0. */
  readonly queuedMs?: number
  readonly steps: readonly StepScript[]
  readonly annotations?: readonly AnnotationScript[]
  /** Goes on after a cancel; only a forced one stops it. Default false. */
  readonly ignoresCancel?: boolean
}

export interface ArtifactScript {
  readonly name: string
  /** By path in the zip; or the zip itself, whatever is in it. */
  readonly content: Readonly<Record<string, string>> | Uint8Array
  readonly expired?: boolean
}

export interface RunScript {
  /** How long it is queued. Default 0. */
  readonly queuedMs?: number
  /** What it is called meanwhile. Default `queued`. */
  readonly queuedAs?: 'requested' | 'queued' | 'pending'
  /** Default none: the run ends when it leaves the queue. */
  readonly jobs?: readonly JobScript[]
  /** Instead of the one that follows from the jobs. */
  readonly conclusion?: Conclusion
  /** A status that GitHub has never told anybody about. */
  readonly status?: string
  /** There from the end on. */
  readonly artifacts?: readonly ArtifactScript[]
}

/** What a run was started with and what happened to it since. */
export interface RunFacts {
  readonly inputs: Readonly<Record<string, unknown>>
  readonly attempt: number
  readonly reviews: readonly Review[]
  /** Whether somebody approved the run of a fork. */
  readonly approved: boolean
}

/** Must give the same for the same facts: it is asked again at every look. */
export type WorkflowScript = RunScript | ((facts: RunFacts) => RunScript)
