import type { JsonObject } from '../../json.js'
import { type ResultOptions, type ToolResult, toolResult } from '../../result.js'
import type { Question, Task } from '../../service/task-service.js'
import { type Audience, statusMessage } from '../../status-message.js'
import { lifetimeMs } from '../../task.js'
import { type JsonRpcError, taskError } from './errors.js'
import { type WireStatus, wireStatus } from './states.js'

export const EXTENSION_ID = 'io.modelcontextprotocol/tasks'

/** Who looks at the task, and how its tool wants results shown. */
export interface View extends Audience {
  readonly result?: ResultOptions
}

/** `Task` (ext-tasks schema). */
export interface WireTask {
  readonly taskId: string
  readonly status: WireStatus
  readonly statusMessage: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** From creation, in ms; null while the run goes on, since a running task never expires. */
  readonly ttlMs: number | null
  readonly pollIntervalMs: number
}

export interface ElicitRequest {
  readonly method: 'elicitation/create'
  readonly params: { readonly mode: 'form'; readonly message: string; readonly requestedSchema: JsonObject }
}

/** `DetailedTask`: the same in `tasks/get` and in `notifications/tasks`. */
export type DetailedTask =
  | (WireTask & { readonly status: 'working' | 'cancelled' })
  | (WireTask & {
      readonly status: 'input_required'
      readonly inputRequests: Readonly<Record<string, ElicitRequest>>
    })
  | (WireTask & { readonly status: 'completed'; readonly result: ToolResult & { resultType: 'complete' } })
  | (WireTask & { readonly status: 'failed'; readonly error: JsonRpcError })

export type CreateTaskResult = WireTask & { readonly resultType: 'task' }
export type GetTaskResult = DetailedTask & { readonly resultType: 'complete' }

/** The handle (ext-tasks, "Task Creation"): never with a result, an error, input requests or a request state. */
export function createTaskResult(task: Task, view: View): CreateTaskResult {
  return { resultType: 'task', ...wireTask(task, view) }
}

export function getTaskResult(task: Task, view: View): GetTaskResult {
  return { resultType: 'complete', ...detailedTask(task, view) }
}

/** Params of `notifications/tasks`: what `tasks/get` would say at this moment. */
export function detailedTask(task: Task, view: View): DetailedTask {
  const base = wireTask(task, view)
  const { status } = base
  switch (status) {
    case 'working':
    case 'cancelled':
      return { ...base, status }
    case 'input_required':
      return { ...base, status, inputRequests: inputRequests(task.questions) }
    case 'completed':
      // The nested result is a CallToolResult on the wire of 2026-07-28, which requires `resultType`.
      return { ...base, status, result: { resultType: 'complete', ...toolResult(task.record, view.result) } }
    case 'failed':
      return { ...base, status, error: taskError(task.record) }
    default:
      return status satisfies never
  }
}

/** Open questions as elicitations in form mode, by their keys. */
export function inputRequests(questions: readonly Question[]): Record<string, ElicitRequest> {
  return Object.fromEntries(
    questions.map(({ key, gate }) => [key, elicitRequest(gate.prompt, gate.schema)] as const),
  )
}

export function elicitRequest(message: string, requestedSchema: JsonObject): ElicitRequest {
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } }
}

function wireTask(task: Task, view: View): WireTask {
  const { record } = task
  return {
    taskId: record.taskId,
    status: wireStatus(record.state, view.canBeAsked && task.questions.length > 0),
    statusMessage: statusMessage(task, view),
    createdAt: new Date(record.createdAt).toISOString(),
    lastUpdatedAt: new Date(record.updatedAt).toISOString(),
    ttlMs: lifetimeMs(record),
    pollIntervalMs: Math.max(1, Math.round(task.pollIntervalMs)),
  }
}
