import {
  CLIENT_CAPABILITIES_META_KEY,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
} from '@modelcontextprotocol/server'
import { isJsonObject } from '@runbridge/core'
import { EXTENSION_ID, parseListenParams } from '@runbridge/core/wire/ext-tasks'
import type { App } from './app.js'
import { type Caller, declared } from './caller.js'
import { lacks } from './capability.js'
import { answered } from './serve-tools.js'
import type { SubscriptionId, Subscriptions, TaskSubscription } from './subscriptions.js'

export const LISTEN = 'subscriptions/listen'

/** A `subscriptions/listen` request, as far as every transport reads it. */
export interface ListenRequest {
  readonly id: SubscriptionId
  readonly params?: unknown
}

/** Whether it asks for tasks at all. If not, the SDK's own router serves it alone. */
export function asksForTasks({ params }: ListenRequest): boolean {
  return isJsonObject(params) && isJsonObject(params.notifications) && 'taskIds' in params.notifications
}

/**
 * Opens the task half of a subscription whose other half the SDK has accepted. Throws a ProtocolError: -32021
 * for a client that did not declare the extension (ext-tasks, "Task Status Notifications"), -32602 for ids that
 * are no strings, -32603 when too many are open.
 */
export function openTasks(
  app: App,
  subscriptions: Subscriptions,
  { id, params }: ListenRequest,
  identity: Pick<Caller, 'owner' | 'scopes'>,
): Promise<TaskSubscription> {
  return answered(app, async () => {
    const { _meta } = params as { readonly _meta?: Readonly<Record<string, unknown>> }
    const { tasks, elicitation } = declared(_meta?.[CLIENT_CAPABILITIES_META_KEY])
    if (!tasks) {
      const message = `taskIds in ${LISTEN} need the extension ${EXTENSION_ID}, which this request does not declare.`
      throw lacks({ era: 'modern' }, 'tasks', message)
    }
    const { taskIds = [] } = parseListenParams(params)
    return subscriptions.open({ id, caller: { ...identity, elicitation }, taskIds })
  })
}

/** `notifications/subscriptions/acknowledged`, as far as it is read here. */
export interface Acknowledgement {
  readonly method: 'notifications/subscriptions/acknowledged'
  readonly params: { readonly notifications: object; readonly _meta?: Readonly<Record<string, unknown>> }
}

export function isAcknowledgement(message: object): message is Acknowledgement {
  return 'method' in message && message.method === 'notifications/subscriptions/acknowledged'
}

/** The SDK's acknowledgement with the tasks in it. */
export function withTasks<A extends Acknowledgement>(acknowledgement: A, taskIds: readonly string[]): A {
  const { params } = acknowledgement
  return { ...acknowledgement, params: { ...params, notifications: { ...params.notifications, taskIds } } }
}

/** What ends a subscription that the server ends (2026-07-28 basic/patterns/subscriptions, "Graceful Closure"). */
export function farewell({ info }: App, id: SubscriptionId) {
  const _meta = { [SUBSCRIPTION_ID_META_KEY]: id, [SERVER_INFO_META_KEY]: info }
  return { jsonrpc: '2.0' as const, id, result: { resultType: 'complete', _meta } }
}
