import type { RunbridgeError } from './errors.js'
import type { JsonObject, JsonSchema } from './json.js'
import type { Gate, Link, Marks, RunRef, Snapshot } from './run.js'
import type { Owner } from './task.js'

/**
 * A workflow as a tool binds it: `id` is the engine's own name (a state machine ARN, `owner/repo/file`).
 * Backends extend this with what their engine needs to know of the tool, such as prompts of gates.
 */
export interface Workflow {
  readonly id: string
}

export interface Capabilities {
  /**
   * What a start promises. `idempotent`: repeating it with the same run key and input never starts a second
   * run. `findable`: not repeatable, but `find` shows the run by its key, so a lost answer can be settled.
   * `blind`: a lost answer stays unknown. Anything but `idempotent` is never sent twice.
   * Default `findable`.
   */
  readonly start: 'idempotent' | 'findable' | 'blind'
  /** Whether a run can be asked to stop. False is said in the tool's description. Default true. */
  readonly cancel: boolean
  /** Whether the engine can wait for a person. False refuses `humanInput` in the configuration. Default false. */
  readonly gates: boolean
  /** Whether `log` exists. False hides `task_log`. Default false. */
  readonly log: boolean
  /**
   * `run`: a start returns a reference to follow. `call`: the workflow ends within one request (`call`), has
   * nothing to follow and becomes a synchronous tool. Default `run`.
   */
  readonly execution: 'run' | 'call'
}

export const DEFAULT_CAPABILITIES: Capabilities = {
  start: 'findable',
  cancel: true,
  gates: false,
  log: false,
  execution: 'run',
}

export interface WorkflowDescription {
  readonly title?: string
  readonly description?: string
  /** JSON Schema of the input, where the engine knows it. */
  readonly inputSchema?: JsonSchema
  readonly consoleUrl?: string
  /** What is deployed now, where the engine keeps revisions and shows which one runs. */
  readonly revision?: string
  readonly capabilities: Capabilities
}

/** What every method is given beside its subject. */
export interface CallContext {
  /** Ends the caller's wait. Aborting never stops a run. */
  readonly signal: AbortSignal
}

/** What every method is given that acts for a caller: all but what only asks about workflows. */
export interface OwnerContext extends CallContext {
  /** Whose task or call it is: what the record says, also where it is followed and nobody asked. */
  readonly owner: Owner
}

export interface FindContext extends OwnerContext {
  /** The start was not sent before then, in ms since the epoch: bounds the search where an engine can only list. */
  readonly since?: number
}

export interface CancelContext extends OwnerContext {
  /** 0 or absent for the wish itself, then the number of times that it was repeated (`escalateAfterMs`). */
  readonly escalation?: number
}

export interface GetContext extends OwnerContext {
  /** Whether open gates are looked for; they can be the expensive part of a read. */
  readonly gates: boolean
  /** Whether progress is looked for. */
  readonly progress: boolean
  /** What the last read of this run returned as marks. */
  readonly marks?: Marks
}

/**
 * The three outcomes of one attempt. `refused` is only for an answer of the engine that says nothing runs, or where
 * nothing was sent (arguments that don't fit, no credentials); a reset connection, a time-out or a 5xx is `unknown`.
 */
export type StartResult =
  | { readonly kind: 'started'; readonly run: RunRef }
  | { readonly kind: 'refused'; readonly error: RunbridgeError }
  | { readonly kind: 'unknown'; readonly error: RunbridgeError }

/** Says nothing about the run. */
export interface Unreadable {
  readonly kind: 'unreadable'
  readonly error: RunbridgeError
  /** The engine wants no read before then, in ms from now; lengthens the interval, never shortens it. */
  readonly retryAfterMs?: number
}

export type FindResult =
  | { readonly kind: 'found'; readonly run: RunRef }
  /** `hint`: what makes later starts findable, as a sentence for the operator. */
  | { readonly kind: 'absent'; readonly hint?: string }
  /** More than one run carries the key: an error, never a guess. */
  | { readonly kind: 'ambiguous'; readonly runs: readonly RunRef[] }
  | Unreadable

export type GetResult =
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot; readonly marks?: Marks }
  /** The engine denies the run while it lets us read its workflow. */
  | { readonly kind: 'absent' }
  /** Denied, expired, throttled, wrong region, down. */
  | Unreadable

/**
 * `sent` only says that the engine took the wish; whether the run stopped is for `get` to tell. If it has not after
 * `escalateAfterMs`, the wish is sent again as the next escalation: for engines that can be asked harder.
 */
export type CancelResult =
  | { readonly kind: 'sent'; readonly escalateAfterMs?: number }
  | { readonly kind: 'too_late' }
  | { readonly kind: 'failed'; readonly error: RunbridgeError }

/** A person's answer, in the words of elicitation (2025-11-25 client/elicitation, "Response actions"). */
export type GateResponse =
  | { readonly action: 'accept'; readonly content: JsonObject }
  | { readonly action: 'decline' }

export type AnswerResult =
  | { readonly kind: 'delivered' }
  /** The gate is closed and it was not this answer that closed it. */
  | { readonly kind: 'too_late' }
  | { readonly kind: 'failed'; readonly error: RunbridgeError }

/** How one synchronous execution ended. `unknown`: it may have run to its end. */
export type CallResult =
  | { readonly kind: 'ended'; readonly snapshot: Snapshot }
  | { readonly kind: 'refused'; readonly error: RunbridgeError }
  | { readonly kind: 'unknown'; readonly error: RunbridgeError }

/** `refused`: no run of the workflow has this reference, or it can't be told; the message says which. */
export type AttachResult =
  | { readonly kind: 'attached'; readonly run: RunRef }
  | { readonly kind: 'refused'; readonly error: RunbridgeError }

export interface LogPiece {
  readonly text: string
  /** Where the next piece starts, in characters; absent at the present end. */
  readonly next?: number
  /** Whether nothing will be added any more. */
  readonly complete: boolean
}

export interface DiscoveredWorkflow {
  readonly id: string
  readonly title?: string
  readonly links?: readonly Link[]
}

/** A bound on looks (`get`) that this process keeps. */
export interface ReadQuota {
  /** Workflows with equal names share the quota, such as those of one account and region. */
  readonly name: string
  /** Looks a second, more than 0. What others use of the engine's own quota is not in it. */
  readonly perSecond: number
}

/**
 * The adapter for one engine. No method retries a write inside, none throws for what the engine answers:
 * outcomes are values, and a throw is a defect. Methods are safe to call at the same time.
 */
export interface Backend<W extends Workflow = Workflow> {
  /** Names the engine in records, messages and logs: `step-functions`. */
  readonly name: string
  /** How long after a start the engine may still deny the run, in ms. Also the grace before `lost`. */
  readonly visibilityMs: number
  /** The longest life of a run in ms, after which an unreadable one is `lost`; absent where there is none. */
  readonly maxRunMs?: number

  /**
   * Whether each owner's calls are made with credentials of its own, so that what one owner is shown is not for
   * another: looks are shared among the tasks of one owner alone. Default false.
   */
  readonly actsAsOwner?: boolean

  /** What looks at runs of this workflow count against. Absent: looks are bound by nothing but their interval. */
  readQuota?(workflow: W): ReadQuota

  /** Throws a RunbridgeError (`workflow_not_found`, `denied`, `unavailable`, …) when it can't be read. */
  describe(workflow: W, context: CallContext): Promise<WorkflowDescription>
  /** One attempt, never retried inside. */
  start(workflow: W, runKey: string, input: JsonObject, context: OwnerContext): Promise<StartResult>
  /** The run under this key, if the engine shows one. */
  find(workflow: W, runKey: string, context: FindContext): Promise<FindResult>
  get(workflow: W, run: RunRef, context: GetContext): Promise<GetResult>
  /** Asks the engine to stop; never claims that it did. `reason` is at most 256 characters. */
  cancel(workflow: W, run: RunRef, reason: string, context: CancelContext): Promise<CancelResult>
  /** Delivers an answer to an open gate of the run. */
  answer(
    workflow: W,
    run: RunRef,
    gate: Gate,
    response: GateResponse,
    context: OwnerContext,
  ): Promise<AnswerResult>
  /** Runs a synchronous workflow to its end: only where `execution` is `call`. One attempt. */
  call?(workflow: W, input: JsonObject, context: OwnerContext): Promise<CallResult>
  /**
   * A run of the workflow that somebody else started, in its present attempt, to watch it. A run's own id is a
   * reference to it; an engine may take others, such as the address of its page.
   */
  attach?(workflow: W, reference: string, context: OwnerContext): Promise<AttachResult>
  /** What `attach` takes, as words that go on after "Takes": `the ARN of an execution`. Needed where `attach` is. */
  readonly references?: string
  /** A bounded piece of what the run has printed so far; offset and limit in characters. */
  log?(
    workflow: W,
    run: RunRef,
    range: { readonly offset: number; readonly limit: number },
    context: OwnerContext,
  ): Promise<LogPiece>
  /** The workflows that could become tools, paginated to the end. */
  discover?(filter: JsonObject, context: CallContext): AsyncIterable<DiscoveredWorkflow>
}
