import { type AuthInfo, ProtocolError } from '@modelcontextprotocol/server'
import type { App } from './app.js'
import { identityOf } from './caller.js'
import {
  asksForTasks,
  farewell,
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
  /** How long it stays open at most, in ms. Default: as long as its client wants. */
  readonly listenMs?: number
}

/** Whether this is a `subscriptions/listen`: the SDK refuses a header that is not the body's method. */
export function isListen(request: Request): boolean {
  return request.headers.get('mcp-method') === LISTEN
}

/**
 * Answers `subscriptions/listen` over HTTP. The SDK goes first: it checks the request and opens the stream for
 * the kinds that it knows; tasks join that stream. The stream ends with the SDK's own graceful result when
 * nothing more can come on it: its tasks have ended and no other kind was agreed to, or the server closes. With
 * the same result it ends when `listenMs` are over. All that was begun for it is over when the stream is.
 */
export async function listenOverHttp(
  app: App,
  subscriptions: Subscriptions,
  request: Request,
  { authInfo, parsedBody, listenMs }: ListenOptions,
  forward: (request: Request) => Promise<Response>,
): Promise<Response> {
  const copy = parsedBody === undefined ? request.clone() : undefined
  const opened = await forward(request)
  const { body } = opened
  if (!body || !opened.headers.get('content-type')?.includes('event-stream')) {
    // The client may be gone in the middle of it, which whoever reads it is told.
    void copy?.body?.cancel().catch(() => undefined)
    return opened
  }
  // No larger than the SDK allowed, since it has read it.
  const listen = (copy ? await copy.json() : parsedBody) as ListenRequest
  if (!asksForTasks(listen) && listenMs === undefined) return opened
  let subscription: TaskSubscription | undefined
  try {
    const open = async () => openTasks(app, subscriptions, listen, identityOf(authInfo))
    if (asksForTasks(listen)) subscription = await answered(app, open)
  } catch (thrown) {
    void body.cancel().catch(() => undefined)
    if (thrown instanceof ProtocolError) return refusal(listen, thrown)
    throw thrown
  }
  request.signal.addEventListener('abort', () => subscription?.close(), { once: true })
  if (request.signal.aborted) subscription?.close()
  const both = { id: listen.id, sdk: body.getReader(), subscription, listenMs }
  return new Response(joined(app, both), { status: opened.status, headers: opened.headers })
}

function refusal({ id }: ListenRequest, { code, message, data }: ProtocolError): Response {
  const error = { code, message, ...(data !== undefined && { data }) }
  const status = code === MISSING_CLIENT_CAPABILITY ? 400 : 200
  return Response.json({ jsonrpc: '2.0', id, error }, { status })
}

interface Both {
  readonly id: ListenRequest['id']
  readonly sdk: ReadableStreamDefaultReader<Uint8Array>
  readonly subscription: TaskSubscription | undefined
  readonly listenMs: number | undefined
}

/** One stream of both, which takes from each only what its reader is ready for. */
function joined(app: App, both: Both): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const frames = join(app, both)
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await frames.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      async cancel() {
        both.subscription?.close()
        await both.sdk.cancel()
        await frames.return()
      },
    },
    { highWaterMark: 0 },
  )
}

async function* join(
  app: App,
  { id, sdk: reader, subscription, listenMs }: Both,
): AsyncGenerator<string, void, void> {
  const events = readEvents(reader)
  const nextEvent = async () => ({ from: 'sdk' as const, message: (await events.next()).value })
  const nextTask = async (from: TaskSubscription) => ({ from: 'tasks' as const, message: await from.next() })
  let sdk: ReturnType<typeof nextEvent> | undefined = nextEvent()
  let tasks: ReturnType<typeof nextTask> | undefined
  let end: object | undefined
  let agreed = false
  const over = new AbortController()
  const time = listenMs === undefined ? undefined : timer(app, listenMs, over.signal)
  try {
    while (sdk || tasks) {
      const awake = new AbortController()
      const silence = app.clock.sleep(KEEP_ALIVE_MS, awake.signal)
      const waiting = [sdk, tasks, agreed ? time : undefined].filter((source) => source !== undefined)
      const next = await Promise.race([...waiting, silence])
      awake.abort()
      if (!next) {
        yield ': keepalive\n\n'
        continue
      }
      const { from, message } = next
      if (from === 'time') {
        end ??= farewell(app, id)
        break
      }
      if (message === undefined) {
        if (from === 'sdk') sdk = undefined
        else tasks = undefined
      } else if ('result' in message) {
        end = message
        sdk = nextEvent()
      } else if (isAcknowledgement(message)) {
        agreed = true
        yield event(subscription ? withTasks(message, subscription.taskIds) : message)
        sdk = nextEvent()
        if (subscription) tasks = nextTask(subscription)
      } else {
        yield event(message)
        if (from === 'sdk') sdk = nextEvent()
        else if (subscription) tasks = nextTask(subscription)
      }
    }
    if (end) yield event(end)
  } finally {
    over.abort()
    subscription?.close()
    await reader.cancel()
    await Promise.allSettled([sdk, tasks])
  }
}

async function timer(app: App, ms: number, signal: AbortSignal) {
  await app.clock.sleep(ms, signal)
  return { from: 'time' as const, message: undefined }
}

function event(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}
