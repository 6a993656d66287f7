import type { GateResponse } from '../backend.js'
import type { RunbridgeError } from '../errors.js'
import type { JsonObject } from '../json.js'
import type { Gate, RunRef } from '../run.js'
import type { TaskFilter } from '../store.js'
import type { Owner, TaskKey, TaskRecord, WireForm } from '../task.js'

/** A question that waits for this task's caller. */
export interface Question {
  readonly key: string
  readonly gate: Gate
}

/** A task as callers see it: the record, and what follows from it at this moment. */
export interface Task {
  readonly record: TaskRecord
  /** The open questions, in the order in which they were first asked. */
  readonly questions: readonly Question[]
  /** When to ask again, in ms. */
  readonly pollIntervalMs: number
}

export interface CreateRequest {
  readonly owner: Owner
  readonly tool: string
  readonly form: WireForm
  /** Arguments, already validated against the tool's schema. */
  readonly input: JsonObject
  /** Made by the client (SEP-1686) or sealed in a request state; else a random one. */
  readonly taskId?: string
  /** Sealed in a request state, so that a replay finds the same run; else a random one. */
  readonly runKey?: string
  /** Whether the client knows the id before the run is known to the engine. Default false. */
  readonly idKnown?: boolean
  /** At most this long after the end, in ms; the tool's own `retainMs` is the ceiling. */
  readonly retainMs?: number
  /** Called once the record is durable, before the start is sent. What it throws ends the call: nothing is started. */
  readonly onRecorded?: () => Promise<void>
}

export interface AttachRequest extends Omit<CreateRequest, 'input' | 'idKnown'> {
  /** Names the run, as the backend's `references` says. */
  readonly reference: string
}

/**
 * `task`: the record is durable and the id may leave. Its state may be any: a start that could not be settled
 * is `lost`, one that is still being settled is `starting`. `refused`: nothing runs and no record is left.
 */
export type CreateOutcome =
  | { readonly kind: 'task'; readonly task: Task; readonly replayed: boolean }
  | { readonly kind: 'refused'; readonly error: RunbridgeError }

/** An elicitation result (2025-11-25 client/elicitation). `cancel`: dismissed without a choice. */
export type InputResponse = GateResponse | { readonly action: 'cancel' }

export type AnswerOutcome = 'delivered' | 'too_late' | 'dismissed' | 'ignored'

export interface AnswerReport {
  readonly task: Task
  /** By key: what became of each response. Unknown and repeated keys are `ignored`. */
  readonly outcomes: Readonly<Record<string, AnswerOutcome>>
}

export interface WaitOptions {
  /** At most this long, in ms. */
  readonly waitMs: number
  /** Ends the wait, never the run. */
  readonly signal: AbortSignal
  /** Returns at once when this holds; default: the task has ended. */
  readonly until?: (task: Task) => boolean
  /** Called with every state on the way that differs from the last. */
  readonly onChange?: (task: Task) => void
}

/**
 * The one way to work with tasks. Every method takes the owner and answers `task_not_found` alike for an
 * unknown, a foreign and an expired id. Errors are RunbridgeErrors.
 */
export interface TaskService {
  /** Durably records, then starts: architecture.md, "Creating a task". */
  create(request: CreateRequest): Promise<CreateOutcome>
  /** Follows a run that was started elsewhere as a task: of the tool's own workflow only. Starts nothing. */
  attach(request: AttachRequest): Promise<CreateOutcome>
  /** The task, read again from the engine when that is due, at most once per run and interval. */
  get(key: TaskKey): Promise<Task>
  /** Follows the task until `until` holds, the time is up or the signal aborts; returns what it last saw. */
  wait(key: TaskKey, options: WaitOptions): Promise<Task>
  /**
   * Answers open questions. All known answers are validated first: one invalid, none applied
   * (`invalid_input`). Delivered before this returns.
   */
  answer(key: TaskKey, responses: Readonly<Record<string, InputResponse>>): Promise<AnswerReport>
  /** Records the wish to stop and sends it. Idempotent; a task that has ended stays as it is. */
  cancel(key: TaskKey, reason: string): Promise<Task>
  /**
   * Ends the task as cancelled at once and for good, and sends the wish: what 2025-11-25 demands. The run is
   * followed to its true end for the log. `conflict` for a task that has ended.
   */
  seal(key: TaskKey, reason: string): Promise<Task>
  list(
    owner: Owner,
    filter: TaskFilter,
    options: { readonly limit: number; readonly cursor?: string },
  ): Promise<{ readonly tasks: readonly Task[]; readonly next?: string }>
  /** Removes a task that has ended; `conflict` for any other. */
  delete(key: TaskKey): Promise<void>
  /** The engine hints that something happened to a run: read it now. Unknown runs are dropped. */
  hint(query: { readonly run: RunRef } | { readonly runKey: string }): Promise<void>
  /** Called in this process after every visible change of the task. Returns the way to stop. */
  subscribe(key: TaskKey, listener: (task: Task) => void): () => void
  /** Removes what has expired and settles what is due; run it from a timer. */
  sweep(): Promise<{ readonly removed: number; readonly settled: number }>
  /** Resolves when what this process has under way (starts, deliveries) is done, for a graceful end. */
  drain(): Promise<void>
}
