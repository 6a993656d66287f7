import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { App } from './app.js'
import type { Followers } from './followers.js'
import { sessionOnChannel } from './legacy/session-on-channel.js'
import { LISTEN } from './listen.js'
import { withTaskSubscriptions } from './listen-on-channel.js'
import { modernServer } from './modern.js'
import type { Subscriptions } from './subscriptions.js'

/** One client at the other end of a transport that carries both directions, such as a pair of pipes. */
export interface Channel {
  /** Resolves when the transport is closed, from whichever end. */
  readonly ended: Promise<void>
  /** Resolves when every request that has arrived is answered, given up by its client, or can't be answered. */
  answered(): Promise<void>
  close(): Promise<void>
}

/**
 * Serves one client, whose first message decides on the era: 2026-07-28, or a session of those before. Its owner is `local`: whoever holds the other end may do what this process may.
 */
export function serveChannel(
  app: App,
  subscriptions: Subscriptions,
  followers: Followers,
  transport: Transport,
): Channel {
  const { counted, answered, ended } = counting(transport)
  const older = sessionOnChannel(app, followers, counted)
  const handle = serveStdio(({ era }) => (era === 'modern' ? modernServer(app, undefined) : older.server()), {
    transport: withTaskSubscriptions(app, subscriptions, older.transport),
    maxSubscriptions: app.limits.maxSubscriptionsInAll,
    onerror: ({ message }) => app.log.info({ reason: message }, 'a message was refused by the protocol'),
  })
  return { ended, answered, close: () => handle.close() }
}

/** The transport, and which requests over it still wait for their answer. Subscriptions wait for none. */
function counting(wire: Transport) {
  const pending = new Set<RequestId>()
  let settled = () => {}
  let closed = () => {}
  const ended = new Promise<void>((resolve) => {
    closed = resolve
  })
  const settle = (id: RequestId | undefined) => {
    if (id !== undefined) pending.delete(id)
    if (pending.size === 0) settled()
  }
  const counted: Transport = {
    start: () => wire.start(),
    close: () => wire.close(),
    send: (message, options) =>
      wire.send(message, options).finally(() => {
        if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) settle(message.id)
      }),
  }
  wire.onmessage = (message, extra) => {
    if (isJSONRPCRequest(message) && message.method !== LISTEN) pending.add(message.id)
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      settle(message.params?.requestId as RequestId)
    }
    counted.onmessage?.(message, extra)
  }
  wire.onerror = (error) => counted.onerror?.(error)
  wire.onclose = () => {
    pending.clear()
    settle(undefined)
    counted.onclose?.()
    closed()
  }
  const answered = async () => {
    while (pending.size > 0) {
      await new Promise<void>((resolve) => {
        settled = resolve
      })
    }
  }
  return { counted, answered, ended }
}
