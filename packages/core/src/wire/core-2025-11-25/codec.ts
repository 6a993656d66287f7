import type { JsonObject } from '../../json.js'
import { type ResultOptions, type ToolResult, toolResult } from '../../result.js'
import { isTerminal, type TerminalState } from '../../run.js'
import type { Question, Task } from '../../service/task-service.js'
import { type Audience, statusMessage } from '../../status-message.js'
import { lifetimeMs, type TaskRecord } from '../../task.js'
import { CANCELLED_ERROR, type JsonRpcError, lostError } from './errors.js'
import { type WireStatus, wireStatus } from './states.js'

export const RELATED_TASK_KEY = 'io.modelcontextprotocol/related-task'
const IMMEDIATE_RESPONSE_KEY = 'io.modelcontextprotocol/model-immediate-response'

/** `Task` (2025-11-25 schema): params of `notifications/tasks/status`, results of `tasks/get` and `tasks/cancel`. */
export interface WireTask {
  readonly taskId: string
  readonly status: WireStatus
  readonly statusMessage: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** From creation, in ms; null while the run goes on, since a running task never expires. */
  readonly ttl: number | null
  readonly pollInterval: number
}

export interface CreateTaskResult {
  readonly task: WireTask
  readonly _meta: JsonObject
}

/** What `tasks/result` answers once the task has ended: what the call itself would have answered. */
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
    status: wireStatus(record.state, audience.canBeAsked && task.questions.length > 0),
    statusMessage: statusMessage(task, audience),
    createdAt: new Date(record.createdAt).toISOString(),
    lastUpdatedAt: new Date(record.updatedAt).toISOString(),
    ttl: lifetimeMs(record),
    pollInterval: Math.max(1, Math.round(task.pollIntervalMs)),
  }
}

/**
 * The answer of every accepted task call ("Creating Tasks"), with a line that a host may hand to its model. The
 * task is `working` there whatever has become of its start: tasks begin so ("Task Status Lifecycle").
 */
export function createTaskResult(task: Task, audience: Audience): CreateTaskResult {
  const { taskId, tool } = task.record
  const shown = wireTask(task, audience)
  const begun =
    shown.status === 'working'
      ? shown
      : ({ ...shown, status: 'working', statusMessage: 'The task was accepted.' } as const)
  const line = `Task ${taskId} of ${tool} was accepted and goes on by itself; its result follows when it has ended. Do not call ${tool} again for it.`
  return { task: begun, _meta: { [IMMEDIATE_RESPONSE_KEY]: line } }
}

const OUTCOMES: Readonly<
  Record<TerminalState, (record: TaskRecord, options: ResultOptions | undefined) => Outcome>
> = {
  succeeded: resultOf,
  failed: resultOf,
  timed_out: resultOf,
  cancelled: () => ({ kind: 'error', error: CANCELLED_ERROR }),
  lost: (record) => ({ kind: 'error', error: lostError(record) }),
}

/** The final answer of `tasks/result`; undefined while the task goes on and the request has to wait. */
export function outcome({ record }: Task, options?: ResultOptions): Outcome | undefined {
  return isTerminal(record.state) ? OUTCOMES[record.state](record, options) : undefined
}

function resultOf(record: TaskRecord, options: ResultOptions | undefined): Outcome {
  return { kind: 'result', result: { ...toolResult(record, options), _meta: relatedTask(record.taskId) } }
}

/** `_meta` of what belongs to a task and does not name it elsewhere ("Associating Task-Related Messages"). */
export function relatedTask(taskId: string): JsonObject {
  return { [RELATED_TASK_KEY]: { taskId } }
}

/** An open question, as a request to the client. Without `mode`, which means a form and which older clients lack. */
export function elicitRequest(question: Question, taskId: string): ElicitRequest {
  const { prompt, schema } = question.gate
  return {
    method: 'elicitation/create',
    params: { message: prompt, requestedSchema: schema, _meta: relatedTask(taskId) },
  }
}
