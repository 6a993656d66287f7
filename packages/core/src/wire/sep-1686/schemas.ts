import * as z from 'zod'
import { parse } from '../../parse.js'

/** Ids are the client's; nothing longer is kept, or need reach the store. */
export const MAX_TASK_ID = 512
const MAX_CURSOR = 4096

const id = z.string().min(1).max(MAX_TASK_ID)
const taskParams = z.looseObject({ taskId: id })
const listParams = z.looseObject({ cursor: z.string().max(MAX_CURSOR).optional() })
const augmentation = z.looseObject({ taskId: id, keepAlive: z.number().nonnegative().optional() })
const meta = z.looseObject({ 'modelcontextprotocol.io/task': augmentation.optional() }).optional()

/** The metadata that makes a request a task (3.1). */
export interface TaskMetadata {
  readonly taskId: string
  /** How long to keep the result after the end, in ms. */
  readonly keepAlive?: number
}

/** What `_meta` of a request says of a task; undefined for a request without (3.1, 4.2). */
export function parseTaskMetadata(value: unknown): TaskMetadata | undefined {
  const task = parse(meta, value, 'params._meta')?.['modelcontextprotocol.io/task']
  if (task === undefined) return undefined
  const { taskId, keepAlive } = task
  return keepAlive === undefined ? { taskId } : { taskId, keepAlive }
}

/** Params of `tasks/get`, `tasks/result` and `tasks/delete`. */
export function parseTaskParams(params: unknown): { readonly taskId: string } {
  return { taskId: parse(taskParams, params, 'params').taskId }
}

/** Params of `tasks/list`. */
export function parseListParams(params: unknown): { readonly cursor?: string } {
  const { cursor } = parse(listParams, params ?? {}, 'params')
  return cursor === undefined ? {} : { cursor }
}
