import type { RunbridgeServer } from '../create-server.js'
import { rawStdio } from './raw-stdio.js'
import { until } from './world.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
type Any = any

interface Received {
  readonly message: Any
  /** The id of the request whose stream carried it; `session` for the stream of the session itself. */
  readonly stream: number | 'session'
}

interface Sent {
  readonly id: number
  /** The answer; undefined where the stream ended without one. */
  readonly answer: Promise<Any>
}

/** A client of the revisions before 2026-07-28, message by message. */
export interface LegacyClient {
  /** What `initialize` was answered with. */
  readonly hello: Any
  readonly sessionId: string | undefined
  /** Every message that came in, in its order. */
  readonly received: readonly Received[]
  send(method: string, params?: object, signal?: AbortSignal): Sent
  /** Sends a request and gives its answer. */
  ask(method: string, params?: object): Promise<Any>
  notify(method: string, params?: object): Promise<void>
  respond(id: string, answer: object): Promise<void>
  /** The first message that fits, as soon as it is there. */
  found(fits: (message: Any, stream: Received['stream']) => boolean): Promise<Received>
  /** Opens the stream of the session itself, and gives the way to close it. */
  listen(): Promise<() => void>
  close(): Promise<void>
}

export interface LegacyOptions {
  readonly version?: string
  readonly capabilities?: object
  readonly token?: string
  /** Goes on with this session instead of beginning one. */
  readonly sessionId?: string
}

const CLIENT = { name: 'raw', version: '0' }
const isAnswer = (message: Any) => message.method === undefined

export async function httpLegacy(url: string, options: LegacyOptions = {}): Promise<LegacyClient> {
  const { version = '2025-11-25', capabilities = {}, token } = options
  const received: Received[] = []
  let count = 0
  let sessionId = options.sessionId
  const headers = () => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(sessionId !== undefined && { 'mcp-session-id': sessionId, 'mcp-protocol-version': version }),
  })

  async function read(response: Response, stream: Received['stream'], onMessage: (message: Any) => void) {
    let rest = ''
    for await (const chunk of response.body ?? []) {
      const events = (rest + Buffer.from(chunk).toString()).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: (.+)$/m.exec(event)?.[1]
        if (data === undefined) continue
        const message = JSON.parse(data)
        received.push({ message, stream })
        onMessage(message)
      }
    }
    if (rest !== '' && !rest.startsWith(':')) onMessage(JSON.parse(rest))
  }

  const post = (body: object, signal?: AbortSignal) =>
    fetch(url, { method: 'POST', headers: headers(), body: JSON.stringify(body), ...(signal && { signal }) })

  function send(method: string, params: object = {}, signal?: AbortSignal): Sent {
    count += 1
    const id = count
    const answer = (async () => {
      const response = await post({ jsonrpc: '2.0', id, method, params }, signal)
      sessionId ??= response.headers.get('mcp-session-id') ?? undefined
      let answered: Any
      await read(response, id, (message) => {
        if (isAnswer(message)) answered = { ...message, status: response.status }
      })
      return answered
    })()
    answer.catch(() => undefined)
    return { id, answer }
  }

  const client: LegacyClient = {
    hello: undefined,
    get sessionId() {
      return sessionId
    },
    received,
    send,
    ask: (method, params) => send(method, params).answer,
    async notify(method, params = {}) {
      await post({ jsonrpc: '2.0', method, params })
    },
    async respond(id, answer) {
      await post({ jsonrpc: '2.0', id, ...answer })
    },
    found: (fits) => until(() => received.find(({ message, stream }) => fits(message, stream))),
    async listen() {
      const leaving = new AbortController()
      const response = await fetch(url, { headers: headers(), signal: leaving.signal })
      if (!response.ok) throw new Error(`GET answered ${response.status}`)
      void read(response, 'session', () => undefined).catch(() => undefined)
      return () => leaving.abort()
    },
    async close() {
      if (sessionId !== undefined) await fetch(url, { method: 'DELETE', headers: headers() })
    },
  }
  if (options.sessionId !== undefined) return client
  const hello = await client.ask('initialize', {
    protocolVersion: version,
    capabilities,
    clientInfo: CLIENT,
  })
  await client.notify('notifications/initialized')
  return Object.defineProperty(client, 'hello', { value: hello.result })
}

export async function stdioLegacy(
  server: RunbridgeServer,
  options: LegacyOptions = {},
): Promise<LegacyClient> {
  const { version = '2025-11-25', capabilities = {} } = options
  const raw = rawStdio(server)
  let count = 0
  const received = () => raw.seen.map((message): Received => ({ message, stream: 'session' }))
  const client: LegacyClient = {
    hello: undefined,
    sessionId: undefined,
    get received() {
      return received()
    },
    send(method, params = {}) {
      count += 1
      const id = count
      return { id, answer: raw.request({ jsonrpc: '2.0', id, method, params } as never) }
    },
    ask: (method, params) => client.send(method, params).answer,
    notify: async (method, params = {}) => raw.write({ jsonrpc: '2.0', method, params }),
    respond: async (id, answer) => raw.write({ jsonrpc: '2.0', id, ...answer }),
    found: (fits) => until(() => received().find(({ message, stream }) => fits(message, stream))),
    listen: async () => () => {},
    async close() {
      raw.input.end()
      await raw.stdio.ended
      await raw.stdio.close()
    },
  }
  const hello = await client.ask('initialize', {
    protocolVersion: version,
    capabilities,
    clientInfo: CLIENT,
  })
  await client.notify('notifications/initialized')
  return Object.defineProperty(client, 'hello', { value: hello.result })
}
