import { expiresAt, RunbridgeError, type Task, type TaskKey, type TaskRecord } from '@runbridge/core'
import type { View } from '@runbridge/core/wire/ext-tasks'
import type { App } from './app.js'
import { type Caller, canBeAsked } from './caller.js'

/**
 * The record, if the methods and notifications of the extension may show it: tasks of other forms are no tasks
 * there. Read from the store alone, so that a slow engine never delays a cancel. `task_not_found` for an
 * unknown, a foreign and an expired id alike.
 */
export async function ownRecord(app: App, key: TaskKey): Promise<TaskRecord> {
  const record = await app.store.get(key)
  const expired = record !== undefined && (expiresAt(record) ?? Number.POSITIVE_INFINITY) < app.clock.now()
  if (record?.form !== 'ext-tasks' || expired) throw new RunbridgeError('task_not_found', 'Task not found')
  return record
}

/** The task as this caller sees it at this moment: what `tasks/get` answers and `notifications/tasks` carries. */
export async function lookAt(
  app: App,
  key: TaskKey,
  caller: Pick<Caller, 'elicitation' | 'scopes'>,
): Promise<{ readonly task: Task; readonly view: View }> {
  await ownRecord(app, key)
  const task = await app.service.get(key)
  const tool = app.tools.get(task.record.tool)?.tool
  const view = { canBeAsked: canBeAsked(tool, caller), result: app.resultOptions(task.record) }
  return { task, view }
}
