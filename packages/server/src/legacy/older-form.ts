import type { RequestId } from '@modelcontextprotocol/server'
import type { RunbridgeError, Task, TaskKey, WireForm } from '@runbridge/core'
import type { App } from '../app.js'
import type { Caller } from '../caller.js'
import type { Tool } from '../tool.js'
import type { Elicitation } from './questions.js'
import type { Session } from './session.js'

/** A JSON-RPC 2.0 error object. */
interface WireError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** An answer to a request: a result, or an error of the form's own. */
export type Answer =
  | { readonly kind: 'result'; readonly result: object }
  | { readonly kind: 'error'; readonly error: WireError }

/** One request of a session. */
export interface LegacyRequest {
  readonly app: App
  readonly session: Session
  readonly id: RequestId
  readonly caller: Caller
  /** Aborts when nobody reads the stream of this request any more. */
  readonly gone: AbortSignal
}

/** A task, its tool if that is still configured, and whether this caller can be asked its questions. */
export interface Seen {
  readonly task: Task
  readonly tool: Tool | undefined
  readonly canBeAsked: boolean
}

/** What the two older wire forms do differently with a task that is theirs. */
export interface OlderForm {
  readonly form: WireForm
  jsonRpcError(error: RunbridgeError): WireError
  get(seen: Seen): object
  /** Answers `tasks/result`, at once or at the end. */
  result(request: LegacyRequest, key: TaskKey): Promise<Answer>
  /** Answers `tasks/cancel`. */
  cancel(request: LegacyRequest, key: TaskKey): Promise<Answer>
  /** Answers `tasks/delete`. */
  remove(request: LegacyRequest, key: TaskKey): Promise<Answer>
  elicitation(question: Task['questions'][number], taskId: string): Elicitation
  relatedTask(taskId: string): Record<string, unknown>
  /** The status as this caller sees it, where the form tells of it by itself. */
  status?(seen: Seen): { readonly method: string; readonly params: object }
  /** Whether progress goes on after the call has been answered. */
  readonly progressAfterAnswer: boolean
}
