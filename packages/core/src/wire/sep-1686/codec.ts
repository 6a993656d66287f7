import type { JsonObject } from '../../json.js'
import { lostText, type ResultOptions, type ToolResult, toolResult } from '../../result.js'
import { isTerminal, type TerminalState } from '../../run.js'
import type { Question, Task } from '../../service/task-service.js'
import type { Audience } from '../../status-message.js'
import type { TaskRecord } from '../../task.js'
import { type JsonRpcError, lostError, notCompleted } from './errors.js'
import { type WireStatus, wireStatus } from './states.js'

export const TASK_KEY = 'modelcontextprotocol.io/task'
export const RELATED_TASK_KEY = 'modelcontextprotocol.io/related-task'

/** A task as `tasks/get` and `tasks/list` show it (SEP-1686, section 6). */
export interface WireTask {
  readonly taskId: string
  readonly status: WireStatus
  /** How long the result is kept after the end, in ms. */
  readonly keepAlive: number
  readonly pollFrequency?: number
  /** Why, on `failed` and `unknown`. */
  readonly error?: string
}

export type GetTaskResult = WireTask & { readonly _meta: JsonObject }

/** An answer to a call or to `tasks/result`. */
export type Outcome =
  | { readonly kind: 'result'; readonly result: ToolResult & { readonly _meta: JsonObject } }
  | { readonly kind: 'error'; readonly error: JsonRpcError }

export interface ElicitRequest {
  readonly method: 'elicitation/create'
  readonly params: {
    readonly message: string
    readonly requestedSchema: JsonObject
    readonly _meta: JsonObject
  }
}

export function wireTask(task: Task, audience: Audience): WireTask {
  const { record } = task
  return {
    taskId: record.taskId,
    status: statusOf(task, audience),
    keepAlive: record.retainMs,
    ...(!isTerminal(record.state) && { pollFrequency: Math.max(1, Math.round(task.pollIntervalMs)) }),
    ...(record.state === 'lost' && { error: lostText(record) }),
  }
}

export function getTaskResult(task: Task, audience: Audience): GetTaskResult {
  return { ...wireTask(task, audience), _meta: relatedTask(task.record.taskId) }
}

const ANSWERS: Readonly<
  Record<TerminalState, (record: TaskRecord, options: ResultOptions | undefined) => Outcome>
> = {
  succeeded: resultOf,
  failed: resultOf,
  timed_out: resultOf,
  cancelled: resultOf,
  lost: (record) => ({ kind: 'error', error: lostError(record) }),
}

/**
 * What the original call is answered with; undefined while the task goes on. A call that its client cancelled is
 * not answered at all; `cancelled` here is a run that was stopped otherwise.
 */
export function answer({ record }: Task, options?: ResultOptions): Outcome | undefined {
  return isTerminal(record.state) ? ANSWERS[record.state](record, options) : undefined
}

/** What `tasks/result` says at this moment: it never waits, and only a completed task has a result (4.6). */
export function resultAnswer(task: Task, audience: Audience, options?: ResultOptions): Outcome {
  const status = statusOf(task, audience)
  return status === 'completed'
    ? resultOf(task.record, options)
    : { kind: 'error', error: notCompleted(status) }
}

function resultOf(record: TaskRecord, options: ResultOptions | undefined): Outcome {
  return { kind: 'result', result: { ...toolResult(record, options), _meta: relatedTask(record.taskId) } }
}

function statusOf({ record, questions }: Task, { canBeAsked }: Audience): WireStatus {
  return wireStatus(record, canBeAsked && questions.length > 0)
}

/** `_meta` of every request, notification and response of a task (4.7). */
export function relatedTask(taskId: string): JsonObject {
  return { [RELATED_TASK_KEY]: { taskId } }
}

/** `notifications/tasks/created` (3.4): nothing but the id, in its metadata. */
export function createdNotification(taskId: string) {
  return { method: 'notifications/tasks/created', params: { _meta: relatedTask(taskId) } } as const
}

/** The result of `tasks/delete` (3.6). */
export function deleteResult(taskId: string) {
  return { _meta: relatedTask(taskId) } as const
}

/** An open question, as a request to the client that belongs to the task (4.4). */
export function elicitRequest(question: Question, taskId: string): ElicitRequest {
  const { prompt, schema } = question.gate
  return {
    method: 'elicitation/create',
    params: { message: prompt, requestedSchema: schema, _meta: relatedTask(taskId) },
  }
}
