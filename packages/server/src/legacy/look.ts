import type { TaskKey } from '@runbridge/core'
import type { App } from '../app.js'
import { type Caller, canBeAsked } from '../caller.js'
import type { Seen } from './older-form.js'

/** The task as this caller sees it at this moment. */
export async function lookAt(
  app: App,
  key: TaskKey,
  caller: Pick<Caller, 'elicitation' | 'scopes'>,
): Promise<Seen> {
  const task = await app.service.get(key)
  const tool = app.tools.get(task.record.tool)?.tool
  return { task, tool, canBeAsked: canBeAsked(tool, caller) }
}
