import { type AuthInfo, ProtocolError } from '@modelcontextprotocol/server'
import type { App } from './app.js'
import { identityOf } from './caller.js'
import {
  asksForTasks,
  isAcknowledgement,
  LISTEN,
  type ListenRequest,
  openTasks,
  withTasks,
} from './listen.js'
import { readEvents } from './read-events.js'
import { answered } from './serve-tools.js'
import type { Subscriptions, TaskSubscription } from './subscriptions.js'

/** How often a stream with nothing to say shows that it is alive, in ms; below what proxies wait. */
const KEEP_ALIVE_MS = 15_000

const MISSING_CLIENT_CAPABILITY = -32021

export interface ListenOptions {
  readonly authInfo?: AuthInfo
  readonly parsedBody?: unknown
}

/** Whether this is a `subscriptions/listen`: the SDK refuses a header that is not the body's method. */
export function isListen(request: Request): boolean {
  return request.headers.get('mcp-method') === LISTEN
}

/**
 * Answers `subscriptions/listen` over HTTP. The SDK goes first: it checks the request and opens the stream for
 * the kinds that it knows; tasks join that stream. The stream ends with the SDK's own graceful result when
 * nothing more can come on it: its tasks have ended and no other kind was agreed to, or the server closes.
 */
export async function listenOverHttp(
  app: App,
  subscriptions: Subscriptions,
  request: Request,
  { authInfo, parsedBody }: ListenOptions,
  forward: (request: Request) => Promise<Response>,
): Promise<Response> {
  const copy = parsedBody === undefined ? request.clone() : undefined
  const opened = await forward(request)
  const { body } = opened
  if (!body || !opened.headers.get('content-type')?.includes('event-stream')) {
    void copy?.body?.cancel()
    return opened
  }
  // No larger than the SDK allowed, since it has read it.
  const listen = (copy ? await copy.json() : parsedBody) as ListenRequest
  if (!asksForTasks(listen)) return opened
  let subscription: TaskSubscription
  try {
    const open = async () => openTasks(app, subscriptions, listen, identityOf(authInfo))
    subscription = await answered(app, open)
  } catch (thrown) {
    void body.cancel()
    if (thrown instanceof ProtocolError) return refusal(listen, thrown)
    throw thrown
  }
  request.signal.addEventListener('abort', () => subscription.close(), { once: true })
  if (request.signal.aborted) subscription.close()
  return new Response(joined(app, body, subscription), { status: opened.status, headers: opened.headers })
}

function refusal({ id }: ListenRequest, { code, message, data }: ProtocolError): Response {
  const error = { code, message, ...(data !== undefined && { data }) }
  const status = code === MISSING_CLIENT_CAPABILITY ? 400 : 200
  return Response.json({ jsonrpc: '2.0', id, error }, { status })
}

/** One stream of both, which takes from each only what its reader is ready for. */
function joined(
  app: App,
  body: ReadableStream<Uint8Array>,
  subscription: TaskSubscription,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const reader = body.getReader()
  const frames = join(app, readEvents(reader), subscription)
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await frames.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      async cancel() {
        subscription.close()
        await reader.cancel()
      },
    },
    { highWaterMark: 0 },
  )
}

async function* join(
  app: App,
  events: AsyncGenerator<object>,
  subscription: TaskSubscription,
): AsyncGenerator<string> {
  const nextEvent = async () => ({ from: 'sdk' as const, message: (await events.next()).value })
  const nextTask = async () => ({ from: 'tasks' as const, message: await subscription.next() })
  let sdk: ReturnType<typeof nextEvent> | undefined = nextEvent()
  let tasks: ReturnType<typeof nextTask> | undefined
  let end: object | undefined
  while (sdk || tasks) {
    const awake = new AbortController()
    const silence = app.clock.sleep(KEEP_ALIVE_MS, awake.signal)
    const waiting = [sdk, tasks].filter((source) => source !== undefined)
    const next = await Promise.race([...waiting, silence])
    awake.abort()
    if (!next) {
      yield ': keepalive\n\n'
      continue
    }
    const { from, message } = next
    if (message === undefined) {
      if (from === 'sdk') sdk = undefined
      else tasks = undefined
    } else if ('result' in message) {
      end = message
      sdk = nextEvent()
    } else if (isAcknowledgement(message)) {
      yield event(withTasks(message, subscription.taskIds))
      sdk = nextEvent()
      tasks = nextTask()
    } else {
      yield event(message)
      if (from === 'sdk') sdk = nextEvent()
      else tasks = nextTask()
    }
  }
  if (end) yield event(end)
}

function event(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}
