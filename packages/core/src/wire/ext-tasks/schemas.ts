import * as z from 'zod'
import { parseElicitResult } from '../../elicitation.js'
import { parse } from '../../parse.js'
import type { InputResponse } from '../../service/task-service.js'
import { MAX_TASK_ID } from '../../task.js'

/** More answers than any task asks questions. */
const MAX_RESPONSES = 100

const taskParams = z.looseObject({ taskId: z.string().min(1).max(MAX_TASK_ID) })

/** More tasks than one owner can have open; a subscription names its own. */
const MAX_TASK_IDS = 1_000

const subscription = z.looseObject({
  notifications: z.looseObject({ taskIds: z.array(z.string()).max(MAX_TASK_IDS).optional() }).optional(),
})

const responses = z
  .record(z.string(), z.unknown())
  .refine((entries) => Object.keys(entries).length <= MAX_RESPONSES, `at most ${MAX_RESPONSES} entries`)

/** Params of `tasks/get` and `tasks/cancel` (ext-tasks, "Task Polling", "Task Cancellation"). */
export function parseTaskParams(params: unknown): { readonly taskId: string } {
  return { taskId: parse(taskParams, params, 'params').taskId }
}

/**
 * The tasks that a `subscriptions/listen` asks for (ext-tasks, "Task Status Notifications"), each once;
 * undefined where it asks for none of this kind. Ids that can be none of ours are left out, like unknown ones.
 */
export function parseListenParams(params: unknown): { readonly taskIds: readonly string[] | undefined } {
  const { notifications } = parse(subscription, params, 'params')
  const ours = notifications?.taskIds?.filter((id) => id !== '' && id.length <= MAX_TASK_ID)
  return { taskIds: ours && [...new Set(ours)] }
}

export interface InputResponses {
  readonly responses: Readonly<Record<string, InputResponse>>
  /**
   * Keys whose value is no elicitation result. A server ignores keys that are not outstanding whatever they
   * carry (ext-tasks, "Task Update Requests"), so only the caller can say whether one of these is an error.
   */
  readonly malformed: readonly string[]
}

/** `inputResponses` of `tasks/update` and of a multi round-trip retry. */
export function parseInputResponses(value: unknown): InputResponses {
  const accepted: [string, InputResponse][] = []
  const malformed: string[] = []
  for (const [key, entry] of Object.entries(parse(responses, value, 'inputResponses'))) {
    const response = parseElicitResult(entry)
    if (response === undefined) malformed.push(key)
    else accepted.push([key, response])
  }
  return { responses: Object.fromEntries(accepted), malformed }
}
