import {
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCResultResponse,
  LATEST_PROTOCOL_VERSION,
  type RequestId,
  type Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from '@modelcontextprotocol/server'
import { type JsonObject, LOCAL_OWNER } from '@runbridge/core'
import type { App } from '../app.js'
import type { Followers } from '../followers.js'
import { plainServer } from '../plain.js'
import { cancelled, legacyServer } from './legacy-server.js'
import { createSession, type Session } from './session.js'
import { heldState } from './session-state.js'
import { type TaskNews, taskNews } from './task-news.js'

/** The session of a channel whose client is of an older revision: as long as the channel, and kept nowhere. */
export interface ChannelSession {
  readonly transport: Transport
  /** The server for the channel, once its first message has come. */
  server(): Server
}

/**
 * Stands between a channel and the SDK: begins the session at `initialize`, and takes the answers to its
 * questions, which the SDK did not send. There is one requestor, so that it may list its tasks.
 */
export function sessionOnChannel(app: App, followers: Followers, wire: Transport): ChannelSession {
  let session: Session | undefined
  let news: TaskNews | undefined

  function begin(params: { protocolVersion: string; clientInfo: object; capabilities: object }): void {
    const { protocolVersion: asked, clientInfo, capabilities } = params
    const now = app.clock.now()
    const record = {
      id: 'channel',
      version: 1,
      owner: LOCAL_OWNER,
      protocolVersion: SUPPORTED_PROTOCOL_VERSIONS.includes(asked) ? asked : LATEST_PROTOCOL_VERSION,
      clientInfo: clientInfo as JsonObject,
      capabilities: capabilities as JsonObject,
      questions: [],
      calls: [],
      createdAt: now,
      seenAt: now,
    }
    session = createSession(app, {
      record,
      state: heldState(record, app.clock.sleep),
      identified: true,
      wire: {
        send: (message) =>
          wire.send(message).catch((err: unknown) => {
            app.log.info({ err }, 'a message to a client could not be sent')
          }),
        listening: () => true,
      },
    })
    news = taskNews(app, session, followers)
    void news.start()
  }

  const transport: Transport = {
    start: () => wire.start(),
    close: () => wire.close(),
    send: (message, options) => wire.send(message, options),
  }
  wire.onmessage = (message, extra) => {
    if (!session && isInitializeRequest(message)) begin(message.params)
    if (session && (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message))) {
      return void session.questions.receive(message, session.identity).catch(dropped)
    }
    if (session && isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { readonly requestId?: RequestId }
      if (requestId !== undefined) void cancelled(app, session, requestId).catch(dropped)
    }
    transport.onmessage?.(message, extra)
  }
  wire.onerror = (error) => transport.onerror?.(error)
  wire.onclose = () => {
    news?.stop()
    transport.onclose?.()
  }
  const dropped = (err: unknown) => app.log.warn({ err }, 'a message of a client could not be taken')

  return {
    transport,
    server() {
      const keeps = app.store.lacks?.update === undefined
      return session && keeps ? legacyServer(app, session) : plainServer(app)
    },
  }
}
