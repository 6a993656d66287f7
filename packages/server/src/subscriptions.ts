import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server'
import { isTerminal, type Owner, RunbridgeError } from '@runbridge/core'
import { type DetailedTask, detailedTask } from '@runbridge/core/wire/ext-tasks'
import type { App } from './app.js'
import type { Caller } from './caller.js'
import type { Followers } from './followers.js'
import { lookAt, ownRecord } from './own-task.js'

/** The pause after a look that failed, such as at a store that can't be reached, in ms. */
const RETRY_MS = 1_000

/** The JSON-RPC id of the `subscriptions/listen` that opened it. */
export type SubscriptionId = string | number

/** `notifications/tasks` (ext-tasks, "Task Status Notifications"). */
export interface TaskNotification {
  readonly jsonrpc: '2.0'
  readonly method: 'notifications/tasks'
  readonly params: DetailedTask & { readonly _meta: Readonly<Record<string, SubscriptionId>> }
}

/** The task half of one `subscriptions/listen`. */
export interface TaskSubscription {
  /** The tasks it was agreed to tell of, in the order in which they were asked for. */
  readonly taskIds: readonly string[]
  /**
   * The next thing to send: first every task as it is, then each that changed, as it is when it is taken.
   * However slowly they are taken, a task waits once and nothing piles up. Undefined when nothing more can
   * come: every task has ended, or the subscription was closed.
   */
  next(): Promise<TaskNotification | undefined>
  close(): void
}

interface Wanted {
  readonly id: SubscriptionId
  readonly caller: Pick<Caller, 'owner' | 'elicitation' | 'scopes'>
  readonly taskIds: readonly string[]
}

export interface Subscriptions {
  /** Throws `limit`. Ids that are unknown, foreign or expired are left out alike. */
  open(wanted: Wanted): Promise<TaskSubscription>
  /** Ends all of them; those who read them say goodbye. */
  closeAll(): void
  /** Resolves when the looks that are under way for any of them are over, those of closed ones too. */
  looked(): Promise<void>
}

export function createSubscriptions(app: App, followers: Followers): Subscriptions {
  const open = new Map<TaskSubscription, Owner>()
  const looks = new Set<Promise<unknown>>()

  function track<T>(look: Promise<T>): Promise<T> {
    looks.add(look)
    return look.finally(() => looks.delete(look))
  }

  function admit(owner: Owner): void {
    const { maxSubscriptions, maxSubscriptionsInAll } = app.limits
    const own = [...open.values()].filter((each) => each === owner).length
    if (own < maxSubscriptions && open.size < maxSubscriptionsInAll) return
    const most =
      own < maxSubscriptions ? `${maxSubscriptionsInAll} in all` : `${maxSubscriptions} of one caller`
    throw new RunbridgeError(
      'limit',
      `This server keeps at most ${most} subscriptions open. Close one, or ask for more tasks in one; tasks/get tells the same.`,
    )
  }

  return {
    async open(wanted) {
      const { owner } = wanted.caller
      const known = await Promise.all(wanted.taskIds.map((taskId) => exists(app, owner, taskId)))
      const taskIds = wanted.taskIds.filter((_, index) => known[index])
      // After the last await, so that those who open at the same moment see each other.
      admit(owner)
      const closed = () => open.delete(subscription)
      const subscription = subscribe(app, { ...wanted, taskIds }, followers.follow, track, closed)
      open.set(subscription, owner)
      return subscription
    },
    closeAll() {
      for (const subscription of [...open.keys()]) subscription.close()
    },
    async looked() {
      await Promise.allSettled(looks)
    },
  }
}

async function exists(app: App, owner: Owner, taskId: string): Promise<boolean> {
  try {
    await ownRecord(app, { owner, taskId })
    return true
  } catch (thrown) {
    if (thrown instanceof RunbridgeError && thrown.code === 'task_not_found') return false
    throw thrown
  }
}

function subscribe(
  app: App,
  { id, caller, taskIds }: Wanted,
  follow: Followers['follow'],
  track: <T>(look: Promise<T>) => Promise<T>,
  closed: () => void,
): TaskSubscription {
  const due = new Set(taskIds)
  const said = new Map<string, string>()
  let wake = () => {}
  const changed = (taskId: string) => {
    if (unfollow.has(taskId)) due.add(taskId)
    wake()
  }
  const unfollow = new Map(
    taskIds.map((taskId) => [taskId, follow({ owner: caller.owner, taskId }, () => changed(taskId))]),
  )

  function drop(taskId: string): void {
    unfollow.get(taskId)?.()
    unfollow.delete(taskId)
    due.delete(taskId)
    said.delete(taskId)
  }

  /** The task, unless it says what it said last. How long to wait until the next poll is no news. */
  async function news(taskId: string): Promise<TaskNotification | undefined> {
    due.delete(taskId)
    try {
      const { task, view } = await lookAt(app, { owner: caller.owner, taskId }, caller)
      const params = detailedTask(task, view)
      if (isTerminal(task.record.state)) drop(taskId)
      const text = JSON.stringify({ ...params, pollIntervalMs: 0 })
      if (said.get(taskId) === text) return undefined
      if (unfollow.has(taskId)) said.set(taskId, text)
      return {
        jsonrpc: '2.0',
        method: 'notifications/tasks',
        params: { ...params, _meta: { [SUBSCRIPTION_ID_META_KEY]: id } },
      }
    } catch (thrown) {
      if (thrown instanceof RunbridgeError && thrown.code === 'task_not_found') {
        drop(taskId)
      } else {
        app.log.warn({ err: thrown, taskId }, 'a task could not be told to its subscriber yet')
        void app.clock.sleep(RETRY_MS).then(() => changed(taskId))
      }
      return undefined
    }
  }

  let over = false
  const subscription: TaskSubscription = {
    taskIds,
    async next() {
      while (!over && unfollow.size > 0) {
        const [taskId] = due
        if (taskId === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          continue
        }
        const notification = await track(news(taskId))
        if (notification && !over) return notification
      }
      subscription.close()
      return undefined
    },
    close() {
      if (over) return
      over = true
      for (const taskId of [...unfollow.keys()]) drop(taskId)
      closed()
      wake()
    },
  }
  return subscription
}
