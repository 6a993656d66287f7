import { setTimeout as pause } from 'node:timers/promises'
import { PLAIN } from '../../bin/mcp-request.mjs'
import { call } from '../call.mjs'

/** What is asked of a run: its end, a question on the way, or to be stopped. */
export const KINDS = /** @type {const} */ (['succeeds', 'fails', 'asks', 'lasts'])
/** As who it is asked: in which of the wire forms, or without tasks. */
export const FORMS = /** @type {const} */ (['ext-tasks', 'core-2025-11-25', 'sep-1686', 'plain'])

/** A bound, not an expectation, in ms: a busy machine is slow. */
const PATIENCE_MS = 240_000
const PAUSE_MS = 1_000

/**
 * @typedef {(typeof KINDS)[number]} Kind
 * @typedef {(typeof FORMS)[number]} Form
 *
 * @typedef {object} Work one task as its client has it
 * @property {string} url
 * @property {Kind} kind
 * @property {() => number} newOrder what tells the input of one call from all others; a call whose answer is lost, and
 *   which can't be sent again as the same, is another call
 * @property {Awaited<ReturnType<typeof import('./session.mjs').openSession>>} session
 *
 * @typedef {object} Ended
 * @property {string} [taskId]
 * @property {string} end as the client was told: `succeeded`, `failed`, `cancelled`, `unknown`; `none` where it came
 *   to none in time; `lost` where the task was not known any more
 */

/** By form: makes the task, answers its questions, and follows it to its end. @type {Record<Form, (work: Work) => Promise<Ended>>} */
export const CLIENTS = {
  'ext-tasks': extension,
  'core-2025-11-25': core,
  'sep-1686': draft,
  plain,
}

/** How each form is asked about a task, by a replica of one's choice: whether it knows it. @type {Record<Form, (url: string, taskId: string, session: Work['session']) => Promise<boolean | undefined>>} */
export const KNOWS = {
  'ext-tasks': async (url, taskId) => known(await call(url, 'tasks/get', { taskId })),
  'core-2025-11-25': async (url, taskId, session) =>
    known(await session.request('tasks/get', { taskId }, url)),
  'sep-1686': async (url, taskId, session) => known(await session.request('tasks/get', { taskId }, url)),
  plain: async (url, taskId) => {
    const { text } = outcome(await status(url, taskId, 0))
    return text === undefined ? undefined : !/not found/i.test(text)
  },
}

/** Undefined where the answer was lost, or the replica can't tell at the moment. */
function known(/** @type {any} */ answer) {
  if (answer?.result) return true
  if (answer?.error) return isUnknown(answer) ? false : undefined
  return undefined
}

function isUnknown(/** @type {any} */ answer) {
  return answer?.error !== undefined && /not found/i.test(answer.error.message)
}

const over = () => {
  const deadline = Date.now() + PATIENCE_MS
  return () => Date.now() > deadline
}

const accepted = (/** @type {Record<string, unknown>} */ requests) =>
  Object.fromEntries(Object.keys(requests).map((key) => [key, { action: 'accept', content: {} }]))

const agreed = (/** @type {Record<string, any>} */ requests) =>
  Object.fromEntries(
    Object.entries(requests).map(([key, { params }]) => {
      const names = Object.keys(params.requestedSchema.properties ?? {})
      return [key, { action: 'accept', content: Object.fromEntries(names.map((name) => [name, true])) }]
    }),
  )

/** A task of the extension. Every second one that succeeds is confirmed, and sent again as often as it is needed. @param {Work} work @returns {Promise<Ended>} */
async function extension({ url, kind, newOrder }) {
  const late = over()
  let order = newOrder()
  const confirmed = kind === 'succeeds' && order % 2 === 0
  const name = confirmed ? 'confirmed' : kind
  /** @type {object | undefined} */
  let agreement
  /** @type {string | undefined} */
  let taskId
  while (!taskId && !late()) {
    const answer = await call(url, 'tools/call', { name, arguments: { order }, ...agreement })
    taskId = answer?.result?.taskId
    if (taskId) break
    if (answer?.result?.resultType === 'input_required') {
      const { requestState, inputRequests } = answer.result
      agreement = { requestState, inputResponses: agreed(inputRequests) }
      continue
    }
    if (!confirmed) order = newOrder()
    await pause(PAUSE_MS / 4)
  }
  if (!taskId) return { end: 'none' }
  let stopped = kind !== 'lasts'
  while (!late()) {
    if (!stopped) stopped = Boolean((await call(url, 'tasks/cancel', { taskId }))?.result)
    const answer = await call(url, 'tasks/get', { taskId })
    if (isUnknown(answer)) return { taskId, end: 'lost' }
    const { status, inputRequests = {}, result } = answer?.result ?? {}
    if (status === 'completed') return { taskId, end: result.isError ? 'failed' : 'succeeded' }
    if (status === 'failed') return { taskId, end: 'unknown' }
    if (status === 'cancelled') return { taskId, end: 'cancelled' }
    if (status === 'input_required')
      await call(url, 'tasks/update', { taskId, inputResponses: accepted(inputRequests) })
    else await pause(PAUSE_MS)
  }
  return { taskId, end: 'none' }
}

/** A task of 2025-11-25. @param {Work} work @returns {Promise<Ended>} */
async function core({ kind, newOrder, session }) {
  const late = over()
  /** @type {string | undefined} */
  let taskId
  while (!taskId && !late()) {
    const params = { name: kind, arguments: { order: newOrder() }, task: { ttl: 3_600_000 } }
    taskId = (await session.request('tools/call', params))?.result?.task?.taskId
    if (!taskId) await pause(PAUSE_MS / 4)
  }
  if (!taskId) return { end: 'none' }
  while (!late()) {
    if (kind === 'lasts') await session.request('tasks/cancel', { taskId })
    // Held until the end, and carries the question.
    if (kind === 'asks') await session.request('tasks/result', { taskId })
    const answer = await session.request('tasks/get', { taskId })
    if (isUnknown(answer)) return { taskId, end: 'lost' }
    const { status } = answer?.result ?? {}
    if (status === 'completed') return { taskId, end: 'succeeded' }
    if (status === 'cancelled') return { taskId, end: 'cancelled' }
    if (status === 'failed') {
      const ended = await session.request('tasks/result', { taskId })
      if (ended) return { taskId, end: ended.result ? 'failed' : 'unknown' }
    }
    await pause(PAUSE_MS)
  }
  return { taskId, end: 'none' }
}

/** A task of SEP-1686: a call under an id of its client's, which is sent again as the same. @param {Work} work @returns {Promise<Ended>} */
async function draft({ kind, newOrder, session }) {
  const late = over()
  const order = newOrder()
  const taskId = `mine-${order}`
  const request = session.newRequest()
  const params = {
    name: kind,
    arguments: { order },
    _meta: { 'modelcontextprotocol.io/task': { taskId, keepAlive: 3_600_000 } },
  }
  let calling = true
  const send = () =>
    session.ask(request, 'tools/call', params).finally(() => {
      calling = false
    })
  void send()
  let seen = false
  while (!late()) {
    await pause(PAUSE_MS)
    if (kind === 'lasts') await session.notify('notifications/cancelled', { requestId: request })
    const answer = await session.request('tasks/get', { taskId })
    if (isUnknown(answer)) {
      if (seen) return { taskId, end: 'lost' }
      if (calling) continue
      calling = true
      void send()
      continue
    }
    const { status } = answer?.result ?? {}
    if (status) seen = true
    if (status === 'cancelled') return { taskId, end: 'cancelled' }
    if (status === 'failed' || status === 'unknown') return { taskId, end: 'unknown' }
    if (status !== 'completed') continue
    const ended = await session.request('tasks/result', { taskId })
    if (ended?.result) return { taskId, end: ended.result.isError ? 'failed' : 'succeeded' }
  }
  return { taskId, end: 'none' }
}

const status = (/** @type {string} */ url, /** @type {string} */ taskId, /** @type {number} */ waitSeconds) =>
  call(url, 'tools/call', { name: 'task_status', arguments: { taskId, waitSeconds } }, PLAIN)

/** A client without tasks: its call is held a while, then it goes on by the follow-up tools. @param {Work} work @returns {Promise<Ended>} */
async function plain({ url, kind, newOrder }) {
  const late = over()
  /** @type {string | undefined} */
  let taskId
  /** @type {Record<string, any> | undefined} */
  let params
  let stopped = kind !== 'lasts'
  while (!late()) {
    params ??= taskId
      ? { name: 'task_status', arguments: { taskId, waitSeconds: 5 } }
      : { name: kind, arguments: { order: newOrder() } }
    const answer = await call(url, 'tools/call', params, PLAIN)
    const { requestState, inputRequests } = answer?.result ?? {}
    if (requestState) params = { ...params, requestState, inputResponses: accepted(inputRequests) }
    // The answer to a question is sent again as it is.
    if (requestState || (!answer && params.requestState)) continue
    params = undefined
    const { text, end, task } = outcome(answer)
    taskId = task ?? taskId
    if (end) return { ...(taskId && { taskId }), end }
    if (taskId && isUnknown({ error: { message: text ?? '' } })) return { taskId, end: 'lost' }
    if (!stopped && taskId) {
      const cancelling = { name: 'task_cancel', arguments: { taskId } }
      stopped = Boolean((await call(url, 'tools/call', cancelling, PLAIN))?.result)
      continue
    }
    await pause(PAUSE_MS / 4)
  }
  return { ...(taskId && { taskId }), end: 'none' }
}

/** By the first word of the last line of a result. */
const ENDS = /** @type {Record<string, string>} */ ({
  Succeeded: 'succeeded',
  Failed: 'failed',
  Cancelled: 'cancelled',
  Lost: 'unknown',
})

/** What a client without tasks reads: of a run that goes on, or of its end. @returns {{ text?: string, task?: string, end?: string }} */
function outcome(/** @type {any} */ answer) {
  const text = answer?.result?.content?.map((/** @type {any} */ part) => part.text ?? '').join('\n')
  if (text === undefined) return {}
  const [, word = '', ended] = /^(Succeeded|Failed|Cancelled|Lost)\b.* \(task (\S+)\)\./m.exec(text) ?? []
  const task = ended ?? /^Task (\S+):/m.exec(text)?.[1]
  return { text, ...(task && { task }), ...(ENDS[word] && { end: ENDS[word] }) }
}
