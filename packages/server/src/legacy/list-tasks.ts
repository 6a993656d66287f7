import { RunbridgeError, type Task } from '@runbridge/core'
import * as core2025 from '@runbridge/core/wire/core-2025-11-25'
import * as sep1686 from '@runbridge/core/wire/sep-1686'
import { canBeAsked } from '../caller.js'
import { olderForm } from './forms.js'
import type { LegacyRequest } from './older-form.js'

const PAGE = 50
/** Pages of the store that hold nothing of these forms are passed over, but not for ever. */
const MAX_PAGES = 20

/**
 * Answers `tasks/list` for both older forms, which ask alike: each entry has the fields of both, with the status
 * words of 2025-11-25. Whatever `tasks/get` finds is listed.
 */
export async function listTasks({ app, caller }: LegacyRequest, params: unknown): Promise<object> {
  let { cursor } = core2025.parseListParams(params)
  for (let page = 1; ; page += 1) {
    const { tasks, next } = await app.service.list(
      caller.owner,
      {},
      { limit: PAGE, ...(cursor !== undefined && { cursor }) },
    )
    const entries = tasks
      .filter(({ record }) => olderForm(record) !== undefined)
      .map((task) => entry(task, canBeAsked(app.tools.get(task.record.tool)?.tool, caller)))
    if (entries.length > 0 || next === undefined || page === MAX_PAGES) {
      return { tasks: entries, ...(next !== undefined && { nextCursor: next }) }
    }
    cursor = next
  }
}

function entry(task: Task, asked: boolean): object {
  const audience = { canBeAsked: asked }
  return { ...sep1686.wireTask(task, audience), ...core2025.wireTask(task, audience) }
}

/** Why a session is not offered the list (2025-11-25 basic/utilities/tasks, "Task Isolation and Access Control"). */
export function notListed(): RunbridgeError {
  return new RunbridgeError(
    'unsupported',
    'tasks/list is not offered without authentication: it would show the tasks of whoever else reaches this server.',
  )
}
