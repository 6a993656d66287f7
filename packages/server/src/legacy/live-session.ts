import {
  type AuthInfo,
  type JSONRPCMessage,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { LOCAL_OWNER, type Owner, type SessionRecord, type SessionStore } from '@runbridge/core'
import type { App } from '../app.js'
import type { Followers } from '../followers.js'
import { legacyServer } from './legacy-server.js'
import { createSession, type Session } from './session.js'
import { storedState } from './session-state.js'
import { taskNews } from './task-news.js'

/** A session that this process has open. */
export interface LiveSession extends Session {
  readonly id: string
  readonly owner: Owner
  /** When this process last served a request of it. */
  seenAt: number
  /** Whether a stream of it is open. */
  inUse(): boolean
  /** The answer to the request that began it. */
  readonly first: Response
  fetch(request: Request, body: unknown, authInfo: AuthInfo | undefined): Promise<Response>
  close(): Promise<void>
}

export interface Beginning {
  readonly request: Request
  readonly body: unknown
  readonly authInfo: AuthInfo | undefined
}

/**
 * Opens a session in this process: a new one with the request that begins it, one from the store with the same
 * request made again, which nobody sees the answer of.
 */
export async function openSession(
  app: App,
  store: SessionStore,
  record: SessionRecord,
  followers: Followers,
  beginning?: Beginning,
): Promise<LiveSession> {
  const { id, owner } = record
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id })
  const open = new Set<AbortSignal>()
  let listeners = 0
  const session = createSession(app, {
    record,
    state: storedState(store, id, app.clock.sleep),
    identified: owner !== LOCAL_OWNER,
    wire: {
      async send(message: JSONRPCMessage, request?: RequestId) {
        try {
          await transport.send(message, request === undefined ? {} : { relatedRequestId: request })
        } catch (err) {
          // Its stream is gone: whoever has to hear of it asks, or is asked again.
          app.log.info({ err }, 'a message of a session could not be sent')
        }
      },
      listening: () => listeners > 0,
      close: (request) => transport.closeSSEStream(request),
    },
  })
  const news = taskNews(app, session, followers)
  const server = legacyServer(app, session)
  await server.connect(transport)

  async function fetch(request: Request, body: unknown, authInfo: AuthInfo | undefined): Promise<Response> {
    const response = await transport.handleRequest(request, {
      ...(authInfo && { authInfo }),
      ...(body !== undefined && { parsedBody: body }),
    })
    if (!response.headers.get('content-type')?.includes('event-stream')) return response
    return request.method === 'GET' ? listened(request, response) : watched(request, response)
  }

  /** Counts the stream of the session itself, which its news go out on. */
  function listened(request: Request, response: Response): Response {
    listeners += 1
    void news.start().catch((err: unknown) => app.log.warn({ err }, 'a session could not be read'))
    return tracked(request, response, () => {
      listeners -= 1
      if (listeners === 0) news.stop()
    })
  }

  function watched(request: Request, response: Response): Response {
    return tracked(request, response, () => {})
  }

  /** The response, and a note of when its stream ends, from whichever end. */
  function tracked({ signal }: Request, response: Response, ended: () => void): Response {
    const reader = response.body?.getReader()
    if (!reader) return response
    const controller = new AbortController()
    open.add(controller.signal)
    const over = () => {
      if (!open.delete(controller.signal)) return
      ended()
    }
    signal.addEventListener('abort', over, { once: true })
    const body = new ReadableStream<Uint8Array>({
      async pull(sink) {
        const { done, value } = await reader.read()
        if (value) sink.enqueue(value)
        if (!done) return
        over()
        sink.close()
      },
      cancel(reason) {
        over()
        return reader.cancel(reason)
      },
    })
    return new Response(body, { status: response.status, headers: response.headers })
  }

  const live: LiveSession = Object.assign(session, {
    id,
    owner,
    seenAt: app.clock.now(),
    inUse: () => open.size > 0,
    first: await fetchFirst(),
    fetch,
    async close() {
      news.stop()
      await server.close()
    },
  })
  return live

  async function fetchFirst(): Promise<Response> {
    if (beginning) return fetch(beginning.request, beginning.body, beginning.authInfo)
    const { protocolVersion, clientInfo, capabilities } = record
    const params = { protocolVersion, clientInfo, capabilities }
    const initialize = { jsonrpc: '2.0', id: 'initialize', method: 'initialize', params }
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': id,
      'mcp-protocol-version': protocolVersion,
    }
    const post = (body: object) =>
      transport.handleRequest(new Request('http://localhost/mcp', { method: 'POST', headers }), {
        parsedBody: body,
      })
    const answer = await post(initialize)
    await answer.text()
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return answer
  }
}
