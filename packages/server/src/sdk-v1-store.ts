import type { TaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/interfaces.js'
import { McpError, type Result, type Task as WireTask } from '@modelcontextprotocol/sdk/types.js'
import { type Owner, RunbridgeError, type Task } from '@runbridge/core'
import { outcome, wireTask } from '@runbridge/core/wire/core-2025-11-25'
import type { App } from './app.js'

/** The form of the tasks of the SDK 1.x. */
export const FORM = 'core-2025-11-25'
/** Nobody is asked through an `McpServer` of 1.x. */
export const AUDIENCE = { canBeAsked: false }

/** The task service as the store that an `McpServer` of 1.x asks for its tasks: it holds those of workflows and no others. */
export function taskStoreOf(
  app: App,
  owner: (session: { readonly sessionId?: string | undefined }) => Owner,
): TaskStore {
  async function own(taskId: string, sessionId: string | undefined): Promise<Task | undefined> {
    const task = await app.service.get({ owner: owner({ sessionId }), taskId }).catch((thrown: unknown) => {
      if (thrown instanceof RunbridgeError && thrown.code === 'task_not_found') return undefined
      throw thrown
    })
    return task?.record.form === FORM ? task : undefined
  }

  async function get(taskId: string, sessionId: string | undefined): Promise<WireTask | null> {
    const task = await own(taskId, sessionId)
    return task ? (wireTask(task, AUDIENCE) as WireTask) : null
  }

  async function result(taskId: string, sessionId: string | undefined): Promise<Result> {
    const task = await own(taskId, sessionId)
    const ended = task && outcome(task, app.resultOptions(task.record))
    if (!ended) throw new McpError(-32602, 'Task not found, or without a result yet')
    if (ended.kind === 'result') return ended.result as unknown as Result
    const { code, message, data } = ended.error
    throw new McpError(code, message, data)
  }

  return {
    getTask: get,
    getTaskResult: result,
    async updateTaskStatus(taskId, status, _message, sessionId) {
      const task = await own(taskId, sessionId)
      // Only a cancel comes from outside; everything else the engine says.
      if (task && status === 'cancelled') await app.service.seal(task.record, 'Cancelled by the caller.')
    },
    createTask: notOurs,
    storeTaskResult: notOurs,
    async listTasks(cursor, sessionId) {
      const page = { limit: 100, ...(cursor !== undefined && { cursor }) }
      const { tasks, next } = await app.service.list(owner({ sessionId }), {}, page)
      const listed = tasks.filter(({ record }) => record.form === FORM)
      return {
        tasks: listed.map((task) => wireTask(task, AUDIENCE) as WireTask),
        ...(next !== undefined && { nextCursor: next }),
      }
    },
  }
}

async function notOurs(): Promise<never> {
  throw new Error('Runbridge keeps the tasks of its workflows and no others.')
}
