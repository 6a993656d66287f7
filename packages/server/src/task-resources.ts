import {
  isTerminal,
  type JsonObject,
  MAX_TASK_ID,
  RunbridgeError,
  type Task,
  toolResult,
} from '@runbridge/core'
import type { App } from './app.js'
import type { Caller } from './caller.js'
import { hasLog, LOG_LIMITS, type LogRange, readLog, someLog } from './read-log.js'

/** What a URI of a task names. */
export type TaskResource =
  | { readonly kind: 'list' }
  | { readonly kind: 'result'; readonly taskId: string }
  | { readonly kind: 'log'; readonly taskId: string; readonly offset: number; readonly limit: number }

export interface ResourceContents {
  readonly mimeType: string
  readonly text: string
  readonly _meta?: JsonObject
  /** For how long nothing about it changes, in ms. */
  readonly ttlMs: number
}

const TASKS_URI = 'runbridge://tasks'
/** Tasks in the list of them. */
const LISTED = 100

/** The URI of something of a task. Ids that clients made may hold any character. */
export function taskUri(taskId: string, kind: 'result' | 'log'): string {
  return `${TASKS_URI}/${encodeURIComponent(taskId)}/${kind}`
}

/** What the URI names; undefined for one that is not ours. */
export function parseTaskUri(uri: string): TaskResource | undefined {
  if (uri === TASKS_URI) return { kind: 'list' }
  const [, id = '', kind, query = ''] =
    /^runbridge:\/\/tasks\/([^/?#]+)\/(result|log)(?:\?([^#]*))?$/.exec(uri) ?? []
  const taskId = decoded(id)
  if (!taskId || taskId.length > MAX_TASK_ID || (kind === 'result' && query !== '')) return undefined
  if (kind === 'result') return { kind, taskId }
  const range: { -readonly [K in keyof LogRange]: number } = { offset: 0, limit: LOG_LIMITS.default }
  for (const [name, value] of new URLSearchParams(query)) {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
    const fits = name === 'offset' || (name === 'limit' && number >= 1 && number <= LOG_LIMITS.max)
    if (!fits || Number.isNaN(number)) return undefined
    range[name] = number
  }
  return { kind: 'log', taskId, ...range }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** What there is to list, as `resources/list` and `resources/templates/list` answer (2026-07-28 server/resources). */
export function listedResources({ store }: Pick<App, 'store'>) {
  if (store.lacks?.list !== undefined) return []
  const description = 'Your newest tasks, each with its state and where its result and its log are.'
  return [{ uri: TASKS_URI, name: 'tasks', title: 'Tasks', description, mimeType: 'application/json' }]
}

export function resourceTemplates(app: Pick<App, 'tools'>) {
  const result = {
    uriTemplate: `${TASKS_URI}/{taskId}/result`,
    name: 'task-result',
    title: 'Result of a task',
    description: 'The tool result of a task that has ended.',
    mimeType: 'application/json',
  }
  const log = {
    uriTemplate: `${TASKS_URI}/{taskId}/log{?offset,limit}`,
    name: 'task-log',
    title: 'Log of a task',
    description: `What its run has printed so far: at most ${LOG_LIMITS.max} characters from an offset on. The next offset is in _meta.`,
    mimeType: 'text/plain',
  }
  return someLog(app) ? [result, log] : [result]
}

/** Throws `task_not_found`, or `unsupported` for what a task has not, or not yet; and what an engine said of a log. */
export async function readTaskResource(
  app: App,
  resource: TaskResource,
  caller: Pick<Caller, 'owner' | 'signal'>,
): Promise<ResourceContents> {
  switch (resource.kind) {
    case 'list':
      return list(app, caller.owner)
    case 'result':
      return result(app, await app.service.get({ owner: caller.owner, taskId: resource.taskId }))
    case 'log': {
      const key = { owner: caller.owner, taskId: resource.taskId }
      const { text, next, complete } = await readLog(app, key, resource, caller.signal)
      const _meta = { 'runbridge/log': { complete, ...(next !== undefined && { next }) } }
      return { mimeType: 'text/plain', text, _meta, ttlMs: complete ? app.limits.listTtlMs : 0 }
    }
    default:
      return resource satisfies never
  }
}

function result(app: App, { record }: Task): ResourceContents {
  if (!isTerminal(record.state)) {
    throw new RunbridgeError('unsupported', `Task ${record.taskId} goes on; its result is not there yet.`)
  }
  const left = (record.endedAt ?? app.clock.now()) + record.retainMs - app.clock.now()
  return {
    mimeType: 'application/json',
    text: JSON.stringify(toolResult(record, app.resultOptions(record))),
    ttlMs: Math.max(0, Math.min(left, app.limits.listTtlMs)),
  }
}

async function list(app: App, owner: string): Promise<ResourceContents> {
  const { tasks } = await app.service.list(owner, {}, { limit: LISTED })
  const entries = tasks.map(({ record: { taskId, tool, state, createdAt } }) => {
    const served = app.tools.get(tool)?.tool
    return {
      taskId,
      tool,
      state,
      createdAt: new Date(createdAt).toISOString(),
      ...(isTerminal(state) && { result: taskUri(taskId, 'result') }),
      ...(served && hasLog(served) && { log: taskUri(taskId, 'log') }),
    }
  })
  return { mimeType: 'application/json', text: JSON.stringify({ tasks: entries }), ttlMs: 0 }
}
