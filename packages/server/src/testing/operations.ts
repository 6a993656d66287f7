import { headersOf, message, type Sent } from './raw-client.js'

/** What came back, as far as two answers may differ by what they tell. */
interface Seen {
  readonly status: number
  readonly challenge: string | null
  readonly body: string
}

/** By what the owner's things are named on the wire. */
export interface Named {
  /** A task of the extension. */
  readonly task: string
  /** A task of 2025-11-25. */
  readonly older: string
  /** A task of SEP-1686, under an id of its client's. */
  readonly underId: string
  /** The sealed request state of a question in the middle of a call. */
  readonly state: string
  /** A session of the older revisions. */
  readonly session: string
}

/** A way to do something with one of them, by whoever holds the token. */
export interface Operation {
  readonly name: string
  ask(url: string, authorization: string | undefined, named: Named): Promise<Seen>
  /** What the owner sees in place of a denial. */
  readonly owner: RegExp
  /** Whether the owner gets that only of a task that has ended. Default false. */
  readonly ended?: boolean
}

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const TASKS: Sent = { tasks: true, elicitation: true }

function modern(
  name: string,
  method: string,
  paramsOf: (named: Named) => object,
  owner: RegExp,
  sent = TASKS,
): Operation {
  return {
    name,
    owner,
    ask: (url, authorization, named) => {
      const params = paramsOf(named)
      const { name, taskId } = params as { name?: string; taskId?: string }
      return post(url, authorization, headersOf(method, name ?? taskId), message(1, method, params, sent))
    },
  }
}

function resource(kind: 'result' | 'log', owner: RegExp, ended = false): Operation {
  const uriOf = ({ task }: Named) => `runbridge://tasks/${task}/${kind}`
  return {
    name: `the ${kind} of a task as a resource`,
    owner,
    ended,
    async ask(url, authorization, named) {
      const uri = uriOf(named)
      const body = message(1, 'resources/read', { uri }, {})
      const seen = await post(url, authorization, headersOf('resources/read', uri), body)
      // An error names the URI that was asked for.
      return { ...seen, body: seen.body.replaceAll(uri, '(uri)') }
    },
  }
}

function legacyTool(name: string, args: object, owner: RegExp): Operation {
  return {
    name: `${name} of 2025`,
    owner,
    ask: (url, authorization, { task }) => {
      const params = { name, arguments: { taskId: task, ...args } }
      return post(url, authorization, JSON_HEADERS, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    },
  }
}

/** In a session of the asker's own, begun for it. */
function inSession(
  form: 'older' | 'underId',
  method: string,
  owner: RegExp,
  { ended = false, params = {} }: { ended?: boolean; params?: object } = {},
): Operation {
  return {
    name: `${method} of ${form === 'older' ? '2025-11-25' : 'SEP-1686'}`,
    owner,
    ended,
    async ask(url, authorization, named) {
      const hello = await fetch(url, {
        method: 'POST',
        headers: { ...JSON_HEADERS, ...(authorization !== undefined && { authorization }) },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 0,
          method: 'initialize',
          params: {
            protocolVersion: '2025-11-25',
            capabilities: {},
            clientInfo: { name: 'raw', version: '0' },
          },
        }),
      })
      const session = hello.headers.get('mcp-session-id')
      if (session === null) return seenOf(hello)
      await hello.body?.cancel()
      const request = { jsonrpc: '2.0', id: 1, method, params: { taskId: named[form], ...params } }
      return post(url, authorization, { ...JSON_HEADERS, 'mcp-session-id': session }, request)
    },
  }
}

/** In the session that is named. */
function ofSession(method: 'POST' | 'GET' | 'DELETE', owner: RegExp): Operation {
  return {
    name: `${method} in a session`,
    owner,
    async ask(url, authorization, { session }) {
      const response = await fetch(url, {
        method,
        headers: {
          ...JSON_HEADERS,
          'mcp-session-id': session,
          ...(authorization !== undefined && { authorization }),
        },
        ...(method === 'POST' && { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) }),
      })
      if (method !== 'GET' || !response.ok) return seenOf(response)
      await response.body?.cancel()
      return { status: response.status, challenge: null, body: 'a stream' }
    },
  }
}

const tool =
  (name: string, args: object = {}) =>
  ({ task }: Named) => ({ name, arguments: { taskId: task, ...args } })
const answer = { key: 'a#1', action: 'accept', content: { approve: true } }
const inputResponses = { 'a#1': { action: 'accept', content: { approve: true } } }

/**
 * Everything that names a task. A new way to reach one belongs here; `ownership.test.ts` then walks it as
 * everybody.
 */
export const OPERATIONS: readonly Operation[] = [
  modern('tasks/get', 'tasks/get', ({ task }) => ({ taskId: task }), /"status":"input_required"/),
  modern(
    'tasks/update',
    'tasks/update',
    ({ task }) => ({ taskId: task, inputResponses }),
    /"resultType":"complete"/,
  ),
  modern('tasks/cancel', 'tasks/cancel', ({ task }) => ({ taskId: task }), /"resultType":"complete"/),
  modern('task_status', 'tools/call', tool('task_status', { waitSeconds: 0 }), /Task tsk_/, {}),
  modern(
    'task_answer',
    'tools/call',
    tool('task_answer', answer),
    /No answer was taken: .* no open question/,
    {},
  ),
  modern('task_cancel', 'tools/call', tool('task_cancel'), /Task tsk_/, {}),
  modern('task_log', 'tools/call', tool('task_log'), /what the run printed/, {}),
  modern(
    'a retry with the state of a call',
    'tools/call',
    ({ state }) => ({ name: 'deploy', arguments: {}, requestState: state, inputResponses }),
    /"resultType":"(input_required|complete)"/,
    { elicitation: true },
  ),
  resource('result', /Succeeded/, true),
  resource('log', /"text":"Done"/),
  modern(
    'subscriptions/listen',
    'subscriptions/listen',
    ({ task }) => ({ notifications: { taskIds: [task] } }),
    /"taskIds":\["tsk_/,
  ),
  legacyTool('task_status', { waitSeconds: 0 }, /Task tsk_/),
  legacyTool('task_answer', answer, /No answer was taken: .* no open question/),
  legacyTool('task_cancel', {}, /Task tsk_/),
  legacyTool('task_log', {}, /what the run printed/),
  inSession('older', 'tasks/get', /"status":"working"/),
  inSession('older', 'tasks/result', /"Done"/, { ended: true }),
  inSession('older', 'tasks/cancel', /"status":"cancelled"/),
  inSession('underId', 'tasks/get', /"status":"(submitted|working)"/),
  inSession('underId', 'tasks/result', /"Done"/, { ended: true }),
  inSession('underId', 'tasks/delete', /"result":\{/, { ended: true }),
  ofSession('POST', /"result":\{\}/),
  ofSession('GET', /a stream/),
  ofSession('DELETE', /^$/),
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
  return seenOf(response)
}

async function seenOf(response: Response): Promise<Seen> {
  const { status, headers } = response
  return { status, challenge: headers.get('www-authenticate'), body: await firstOf(response) }
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
