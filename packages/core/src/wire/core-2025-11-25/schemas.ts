import * as z from 'zod'
import { parse } from '../../parse.js'
import { MAX_TASK_ID } from '../../task.js'

const MAX_CURSOR = 4096

const taskParams = z.looseObject({ taskId: z.string().min(1).max(MAX_TASK_ID) })
const listParams = z.looseObject({ cursor: z.string().max(MAX_CURSOR).optional() })
const augmentation = z.looseObject({ ttl: z.number().nonnegative().optional() })

/** Params of `tasks/get`, `tasks/result` and `tasks/cancel`; related-task metadata in them is ignored. */
export function parseTaskParams(params: unknown): { readonly taskId: string } {
  return { taskId: parse(taskParams, params, 'params').taskId }
}

/** Params of `tasks/list`. */
export function parseListParams(params: unknown): { readonly cursor?: string } {
  const { cursor } = parse(listParams, params ?? {}, 'params')
  return cursor === undefined ? {} : { cursor }
}

/** `params.task` of a task-augmented request; undefined for a request without. `ttl` in ms. */
export function parseTaskMetadata(task: unknown): { readonly ttl?: number } | undefined {
  if (task === undefined) return undefined
  const { ttl } = parse(augmentation, task, 'params.task')
  return ttl === undefined ? {} : { ttl }
}
