import type { Clock, Ids, Log, ResultOptions, TaskService, TaskStore } from '@runbridge/core'
import type { Audit } from './audit.js'
import type { CallGate } from './call-gate.js'
import type { Validate } from './json-schema.js'
import type { Limits } from './limits.js'
import type { RequestStates } from './request-state.js'
import type { ResultOf } from './result-options.js'
import type { Tool } from './tool.js'

export interface ServedTool {
  readonly tool: Tool
  /** Checks the arguments of a call. */
  readonly validate: Validate
  /** What of an output breaks the output schema, where there is one. */
  readonly outputProblems?: Validate
}

/** What every request of one server shares. */
export interface App {
  readonly info: { readonly name: string; readonly version: string; readonly title?: string }
  readonly instructions?: string
  /** In the order of the configuration, which is the order of `tools/list`. */
  readonly tools: ReadonlyMap<string, ServedTool>
  readonly service: TaskService
  readonly store: TaskStore
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly audit: Audit
  readonly limits: Limits
  readonly states: RequestStates
  readonly gate: CallGate
  /** How the result of a task is shown, or that of a call without one. */
  readonly resultOptions: (result: ResultOf) => ResultOptions
  /** Whether the process stands still between requests: nothing waits, and nothing goes on after an answer. */
  readonly freezes: boolean
  /** Aborts when the server begins to close: holds end with what they know. */
  readonly closing: AbortSignal
}
