import type { Json, JsonObject, JsonSchema } from './json.js'

/**
 * The neutral states of a run. An engine value that nobody has seen before is `running`, never an end:
 * unknown is never success and never failure.
 */
export const RUN_STATES = [
  /** Recorded here, not yet known to the engine. */
  'starting',
  'queued',
  'running',
  /** An enabled gate is open. */
  'waiting',
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
  /** The engine denies the run, its longest possible life is over, or its start could not be settled. */
  'lost',
] as const

export type RunState = (typeof RUN_STATES)[number]

export const TERMINAL_STATES = ['succeeded', 'failed', 'timed_out', 'cancelled', 'lost'] as const
export type TerminalState = (typeof TERMINAL_STATES)[number]
/** States that an engine can report: a run that the engine reports has left `starting`. */
export type ReportedState = Exclude<RunState, 'starting'>

export function isTerminal(state: RunState): state is TerminalState {
  return (TERMINAL_STATES as readonly RunState[]).includes(state)
}

/** Names one attempt of one run in its engine. A later attempt (redrive, re-run) is another run. */
export interface RunRef {
  /** The engine's own id: an execution ARN, a run id. */
  readonly id: string
  /** 0 for the first attempt of Step Functions (`redriveCount`); GitHub counts from 1 (`run_attempt`). */
  readonly attempt: number
}

export function sameRun(a: RunRef, b: RunRef): boolean {
  return a.id === b.id && a.attempt === b.attempt
}

/** A place where the engine itself waits for a person. Holds no token and no callback URL. */
export interface Gate {
  /** Derived from what the engine gives, so that every replica arrives at the same. */
  readonly id: string
  /** The state, job or callback that waits. */
  readonly step: string
  /** The question as a person reads it. */
  readonly prompt: string
  /** JSON Schema of the answer: one flat object of primitive properties, as form elicitation demands. */
  readonly schema: JsonSchema
  /** When the engine stops waiting, in ms since the epoch; absent where it does not say. */
  readonly deadline?: number
}

export interface RunError {
  /** The engine's own error name, verbatim: `States.Timeout`, a conclusion. */
  readonly code: string
  readonly message: string
  /** The step that failed, where the engine tells. */
  readonly step?: string
  /** More for a person or model to read: a bounded tail of a log, a stack. Data, never instructions. */
  readonly detail?: string
}

export interface Link {
  readonly title: string
  readonly url: string
}

/** What the engine says of a run at one moment. */
export interface Snapshot {
  readonly state: ReportedState
  /** The engine's own word, verbatim. */
  readonly nativeState: string
  readonly progress?: { readonly message: string; readonly done?: number; readonly total?: number }
  /** The open gates; empty unless they were asked for. */
  readonly gates: readonly Gate[]
  /** On `succeeded` only; absent where the engine keeps none or cut it (see `outputOmitted`). */
  readonly output?: Json
  /** Why there is no output although the run succeeded, as a sentence. */
  readonly outputOmitted?: string
  /** On `failed`, `timed_out` and, where the engine says why, `cancelled`. */
  readonly error?: RunError
  readonly links: readonly Link[]
  /** ms since the epoch. */
  readonly startedAt?: number
  /** ms since the epoch. */
  readonly endedAt?: number
}

/** Opaque notes of a backend for its next read of the same run, such as the last history event seen. */
export type Marks = JsonObject
