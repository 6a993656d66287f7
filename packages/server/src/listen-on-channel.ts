import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type ProtocolError,
  SUBSCRIPTION_ID_META_KEY,
  type Transport,
} from '@modelcontextprotocol/server'
import { LOCAL_OWNER } from '@runbridge/core'
import type { App } from './app.js'
import {
  type Acknowledgement,
  asksForTasks,
  farewell,
  isAcknowledgement,
  LISTEN,
  type ListenRequest,
  openTasks,
  withTasks,
} from './listen.js'
import type { SubscriptionId, Subscriptions, TaskSubscription } from './subscriptions.js'

/** A subscription that asked for tasks, from its request to its end. */
interface Listening {
  readonly request: ListenRequest
  /** Once the SDK has accepted its other half. */
  tasks?: TaskSubscription
}

/**
 * A transport with task subscriptions. The SDK's router for channels knows its own kinds alone, so tasks join
 * here: its acknowledgement is completed on the way out, and their notifications follow it. One that nothing
 * more can come to is ended gracefully, as over HTTP.
 */
export function withTaskSubscriptions(app: App, subscriptions: Subscriptions, wire: Transport): Transport {
  const listening = new Map<SubscriptionId, Listening>()

  function end(id: SubscriptionId): void {
    listening.get(id)?.tasks?.close()
    listening.delete(id)
  }

  /** Makes the SDK forget a subscription that ends here, as if its client had cancelled it. */
  function endAtSdk(id: SubscriptionId): void {
    outer.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
  }

  async function acknowledge(
    entry: Listening,
    acknowledgement: JSONRPCMessage & Acknowledgement,
  ): Promise<void> {
    const { id } = entry.request
    const isCurrent = () => listening.get(id) === entry
    let tasks: TaskSubscription
    try {
      tasks = await openTasks(app, subscriptions, entry.request, { owner: LOCAL_OWNER })
    } catch (thrown) {
      if (!isCurrent()) return
      listening.delete(id)
      endAtSdk(id)
      const { code, message, data } = thrown as ProtocolError
      return wire.send({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } })
    }
    // The client may have cancelled it meanwhile; nothing may follow that.
    if (!isCurrent()) return tasks.close()
    entry.tasks = tasks
    await wire.send(withTasks(acknowledgement, tasks.taskIds))
    const alone = Object.keys(acknowledgement.params.notifications).length === 0
    void tell(id, tasks, isCurrent, alone).catch((err: unknown) => {
      app.log.info({ err }, 'a subscription ended with its connection')
      tasks.close()
    })
  }

  async function tell(
    id: SubscriptionId,
    tasks: TaskSubscription,
    isCurrent: () => boolean,
    alone: boolean,
  ): Promise<void> {
    // One at a time: a reader that is slow makes the next one wait, and it then tells the latest.
    for (let next = await tasks.next(); next && isCurrent(); next = await tasks.next()) {
      await wire.send(next as unknown as JSONRPCMessage)
    }
    // When the server closes, the SDK says goodbye to all of them.
    if (!alone || !isCurrent() || app.closing.aborted) return
    listening.delete(id)
    endAtSdk(id)
    await wire.send(farewell(app, id))
  }

  const outer: Transport = {
    start: () => wire.start(),
    close: () => wire.close(),
    async send(message, options) {
      if (isJSONRPCNotification(message) && isAcknowledgement(message)) {
        const entry = listening.get(message.params._meta?.[SUBSCRIPTION_ID_META_KEY] as SubscriptionId)
        if (entry && !entry.tasks) return acknowledge(entry, message)
      }
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
        if (message.id !== undefined) end(message.id)
      }
      return wire.send(message, options)
    },
  }

  wire.onmessage = (message, extra) => {
    if (isJSONRPCRequest(message) && message.method === LISTEN) {
      end(message.id)
      if (asksForTasks(message)) listening.set(message.id, { request: message })
    } else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      end(message.params?.requestId as SubscriptionId)
    }
    outer.onmessage?.(message, extra)
  }
  wire.onerror = (error) => outer.onerror?.(error)
  wire.onclose = () => {
    for (const id of [...listening.keys()]) end(id)
    outer.onclose?.()
  }
  return outer
}
