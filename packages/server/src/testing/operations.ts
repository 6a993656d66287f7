import { headersOf, message, type Sent } from './raw-client.js'

/** What came back, as far as two answers may differ by what they tell. */
export interface Seen {
  readonly status: number
  readonly challenge: string | null
  readonly body: string
}

/** A way to do something with one task, by whoever holds the token. */
export interface Operation {
  readonly name: string
  /** `state`: a sealed request state of the owner's, where the operation takes one. */
  ask(url: string, authorization: string | undefined, taskId: string, state: string): Promise<Seen>
  /** What the owner sees in place of a denial. */
  readonly owner: RegExp
}

const TASKS: Sent = { tasks: true, elicitation: true }

function modern(
  name: string,
  method: string,
  paramsOf: (taskId: string, state: string) => object,
  owner: RegExp,
  sent = TASKS,
): Operation {
  return {
    name,
    owner,
    ask: (url, authorization, taskId, state) => {
      const params = paramsOf(taskId, state)
      const { name, taskId: named } = params as { name?: string; taskId?: string }
      return post(url, authorization, headersOf(method, name ?? named), message(1, method, params, sent))
    },
  }
}

function legacyTool(name: string, args: object, owner: RegExp): Operation {
  return {
    name: `${name} of 2025`,
    owner,
    ask: (url, authorization, taskId) => {
      const params = { name, arguments: { taskId, ...args } }
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
      return post(url, authorization, headers, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    },
  }
}

const tool =
  (name: string, args: object = {}) =>
  (taskId: string) => ({ name, arguments: { taskId, ...args } })
const answer = { key: 'a#1', action: 'accept', content: { approve: true } }
const inputResponses = { 'a#1': { action: 'accept', content: { approve: true } } }

/**
 * Everything that names a task. A new way to reach one belongs here; `ownership.test.ts` then walks it as
 * everybody.
 */
export const OPERATIONS: readonly Operation[] = [
  modern('tasks/get', 'tasks/get', (taskId) => ({ taskId }), /"status":"input_required"/),
  modern('tasks/update', 'tasks/update', (taskId) => ({ taskId, inputResponses }), /"resultType":"complete"/),
  modern('tasks/cancel', 'tasks/cancel', (taskId) => ({ taskId }), /"resultType":"complete"/),
  modern('task_status', 'tools/call', tool('task_status', { waitSeconds: 0 }), /Task tsk_/, {}),
  modern(
    'task_answer',
    'tools/call',
    tool('task_answer', answer),
    /No answer was taken: .* no open question/,
    {},
  ),
  modern('task_cancel', 'tools/call', tool('task_cancel'), /Task tsk_/, {}),
  modern(
    'a retry with the state of a call',
    'tools/call',
    (_taskId, requestState) => ({ name: 'deploy', arguments: {}, requestState, inputResponses }),
    /"resultType":"(input_required|complete)"/,
    { elicitation: true },
  ),
  modern(
    'subscriptions/listen',
    'subscriptions/listen',
    (taskId) => ({ notifications: { taskIds: [taskId] } }),
    /"taskIds":\["tsk_/,
  ),
  legacyTool('task_status', { waitSeconds: 0 }, /Task tsk_/),
  legacyTool('task_answer', answer, /No answer was taken: .* no open question/),
  legacyTool('task_cancel', {}, /Task tsk_/),
]

async function post(
  url: string,
  authorization: string | undefined,
  headers: Record<string, string>,
  body: object,
): Promise<Seen> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, ...(authorization !== undefined && { authorization }) },
    body: JSON.stringify(body),
  })
  const { status } = response
  return {
    status,
    challenge: response.headers.get('www-authenticate'),
    body: await firstOf(response),
  }
}

/** The whole answer; of a stream that goes on, what it says first. */
async function firstOf(response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (
      text.includes('"method":"notifications/subscriptions/acknowledged"') &&
      !text.includes('"taskIds":[]')
    ) {
      // Leaving the loop closes the stream.
      break
    }
  }
  return text
}
