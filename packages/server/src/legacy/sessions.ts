import { randomBytes } from 'node:crypto'
import {
  type AuthInfo,
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCResultResponse,
  LATEST_PROTOCOL_VERSION,
  type RequestId,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import {
  type JsonObject,
  type Owner,
  type SessionRecord,
  type SessionStore,
  toRunbridgeError,
} from '@runbridge/core'
import type { App } from '../app.js'
import { identityOf } from '../caller.js'
import type { Followers } from '../followers.js'
import { cancelled } from './legacy-server.js'
import { type LiveSession, openSession } from './live-session.js'

export const SESSION_HEADER = 'mcp-session-id'

/** The sessions of the revisions before 2026-07-28 over HTTP (2025-11-25 basic/transports, "Session Management"). */
export interface Sessions {
  /**
   * Answers an `initialize` request, or any request that names a session.
   * @param body of a POST, parsed
   */
  handle(request: Request, body: unknown, authInfo: AuthInfo | undefined): Promise<Response>
  /** Ends what nobody uses, and keeps what somebody does. */
  sweep(): Promise<void>
  /** Ends the streams; the sessions stay in the store for whoever goes on with them. */
  close(): Promise<void>
}

const SWEEP_LIMIT = 1_000
const ID = /^ses_[\w-]{32}$/

export function createSessions(app: App, store: SessionStore, followers: Followers): Sessions {
  const { clock, limits, log } = app
  const live = new Map<string, LiveSession>()
  /** So that requests that arrive together open a session once. */
  const opening = new Map<string, Promise<LiveSession>>()

  function opened(record: SessionRecord): Promise<LiveSession> {
    const present = live.get(record.id)
    if (present) return Promise.resolve(present)
    const begun = opening.get(record.id) ?? openSession(app, store, record, followers)
    opening.set(record.id, begun)
    void begun
      .then((session) => live.set(record.id, session))
      .catch(() => undefined)
      .finally(() => opening.delete(record.id))
    return begun
  }

  async function end(id: string): Promise<void> {
    await store.delete(id)
    await live.get(id)?.close()
    live.delete(id)
  }

  /** Ends the idlest sessions of this owner past the bound. Counted with the new one, so that those of one moment see each other. */
  async function makeRoom({ id: begun, owner }: LiveSession): Promise<void> {
    const own = [...live.values()].filter((session) => session.owner === owner)
    const idlest = own
      .filter(({ id }) => id !== begun)
      .sort((a, b) => Number(a.inUse()) - Number(b.inUse()) || a.seenAt - b.seenAt)
    for (const { id } of idlest.slice(0, Math.max(0, own.length - limits.maxSessions))) await end(id)
  }

  async function begin(request: Request, body: unknown, authInfo: AuthInfo | undefined): Promise<Response> {
    if (!isInitializeRequest(body)) return refusal(400, -32600, 'Malformed initialize request.')
    const { owner } = identityOf(authInfo)
    const { protocolVersion, clientInfo, capabilities } = body.params
    const now = clock.now()
    const record: SessionRecord = {
      id: `ses_${randomBytes(24).toString('base64url')}`,
      version: 1,
      owner,
      protocolVersion: SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion)
        ? protocolVersion
        : LATEST_PROTOCOL_VERSION,
      clientInfo: clientInfo as unknown as JsonObject,
      capabilities: capabilities as JsonObject,
      questions: [],
      calls: [],
      createdAt: now,
      seenAt: now,
    }
    // Durable before its id leaves, so that any process knows it.
    await store.create(record)
    const session = await openSession(app, store, record, followers, { request, body, authInfo })
    live.set(record.id, session)
    await makeRoom(session)
    return session.first
  }

  /** The session that the request names, if it is this caller's. */
  async function find(id: string, owner: Owner): Promise<LiveSession | undefined> {
    // What can be none of ours need not reach the store.
    const record = ID.test(id) ? await store.get(id) : undefined
    const now = clock.now()
    if (!record || record.owner !== owner || record.seenAt + limits.sessionIdleMs < now) {
      if (!record) await live.get(id)?.close()
      if (!record) live.delete(id)
      return undefined
    }
    const session = await opened(record)
    session.seenAt = now
    return (await touch(session)) ? session : undefined
  }

  /** Says in the store now and then that the session is used; false where it has ended elsewhere. */
  async function touch({ state }: LiveSession): Promise<boolean> {
    const now = clock.now()
    const touched = await state.change((record) =>
      now - record.seenAt > limits.sessionIdleMs / 10 ? { ...record, seenAt: now } : record,
    )
    return touched !== undefined
  }

  async function serve(
    session: LiveSession,
    request: Request,
    body: unknown,
    authInfo: AuthInfo | undefined,
  ) {
    const messages = Array.isArray(body) ? body : [body]
    const requests: RequestId[] = []
    for (const message of messages) {
      // Ours are known to the store, not to this process alone, so the SDK is not told of their answers.
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
        await session.questions.receive(message, identityOf(authInfo))
      } else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
        const { requestId } = (message.params ?? {}) as { readonly requestId?: RequestId }
        if (requestId !== undefined) requests.push(requestId)
      }
    }
    const rest = messages.filter(
      (message) => !isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message),
    )
    if (request.method === 'POST' && rest.length === 0 && messages.length > 0) {
      return new Response(null, { status: 202 })
    }
    for (const id of requests) await cancelled(app, session, id)
    const response = await session.fetch(request, Array.isArray(body) ? rest : body, authInfo)
    for (const id of requests) session.wire.close?.(id)
    return response
  }

  async function handle(request: Request, body: unknown, authInfo: AuthInfo | undefined): Promise<Response> {
    const version = request.headers.get('mcp-protocol-version')
    if (version !== null && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
      const known = SUPPORTED_PROTOCOL_VERSIONS.join(', ')
      return refusal(400, -32000, `Unsupported MCP-Protocol-Version ${version}; this server has ${known}.`)
    }
    const id = request.headers.get(SESSION_HEADER)
    if (id === null) return begin(request, body, authInfo)
    const identity = identityOf(authInfo)
    const session = await find(id, identity.owner)
    if (!session) return refusal(404, -32001, 'Session not found; begin anew with an initialize request.')
    session.identity = identity
    if (request.method !== 'DELETE') return serve(session, request, body, authInfo)
    await end(id)
    return new Response(null, { status: 204 })
  }

  return {
    async handle(request, body, authInfo) {
      try {
        return await handle(request, body, authInfo)
      } catch (thrown) {
        const { code, message } = toRunbridgeError(thrown)
        log.warn({ err: thrown }, 'a request of a session could not be served')
        return refusal(code === 'unavailable' ? 503 : 500, -32603, message)
      }
    },

    async sweep() {
      const now = clock.now()
      for (const session of [...live.values()]) {
        const kept = session.inUse() ? await touch(session) : session.seenAt + limits.sessionIdleMs >= now
        if (kept) continue
        live.delete(session.id)
        await session.close()
      }
      const ended = await store.sweep(now - limits.sessionIdleMs, SWEEP_LIMIT)
      if (ended > 0) log.info({ ended }, 'ended sessions that nobody used')
    },

    async close() {
      const sessions = [...live.values()]
      live.clear()
      await Promise.all(sessions.map((session) => session.close()))
    },
  }
}

/** Whether it begins a session, well-formed or not. */
export function isInitialize(body: unknown): boolean {
  return (body as { readonly method?: unknown } | undefined)?.method === 'initialize'
}

function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status })
}
