import {
  type Clock,
  isTerminal,
  type Log,
  RunbridgeError,
  type TaskKey,
  type TaskService,
} from '@runbridge/core'

/** Follows tasks for whoever watches them: one follower for each task, however many watch it. */
export interface Followers {
  /**
   * Calls back whenever the task may have changed, from its first look on. What it is now is for the listener to
   * ask. Returns the way to stop; with its last listener, the follower of a task stops too.
   */
  follow(key: TaskKey, changed: () => void): () => void
  /** Resolves when followers that were stopped have ended: the look that one had under way is over. */
  stopped(): Promise<void>
}

interface Follower {
  readonly listeners: Set<() => void>
  readonly stop: AbortController
  readonly ended: Promise<void>
}

/** The pause after a look that failed, such as at a store that can't be reached, in ms. */
const RETRY_MS = 1_000

/** Rests on `TaskService.wait`, which reads the engine when that is due and is woken by changes in this process. */
export function createFollowers(service: TaskService, clock: Clock, log: Log): Followers {
  const followers = new Map<string, Follower>()
  const stopping = new Set<Promise<void>>()

  function start(key: TaskKey): Follower {
    const listeners = new Set<() => void>()
    const stop = new AbortController()
    return { listeners, stop, ended: run(key, listeners, stop.signal) }
  }

  async function run(key: TaskKey, listeners: ReadonlySet<() => void>, signal: AbortSignal): Promise<void> {
    const tell = () => {
      for (const listener of [...listeners]) listener()
    }
    while (!signal.aborted) {
      let first = true
      try {
        await service.wait(key, {
          waitMs: Number.POSITIVE_INFINITY,
          signal,
          onChange: tell,
          until({ record }) {
            if (first) tell()
            first = false
            return isTerminal(record.state)
          },
        })
        return
      } catch (thrown) {
        if (thrown instanceof RunbridgeError && thrown.code === 'task_not_found') return tell()
        log.warn({ err: thrown, taskId: key.taskId }, 'a task that is watched could not be looked at')
        await clock.sleep(RETRY_MS, signal)
      }
    }
  }

  return {
    follow(key, changed) {
      const name = JSON.stringify([key.owner, key.taskId])
      const present = followers.get(name)
      const follower = present ?? start(key)
      // A function of its own, so that the same one can listen twice.
      const listener = () => changed()
      follower.listeners.add(listener)
      if (!present) followers.set(name, follower)
      return () => {
        follower.listeners.delete(listener)
        if (follower.listeners.size > 0 || followers.get(name) !== follower) return
        followers.delete(name)
        follower.stop.abort()
        stopping.add(follower.ended)
        void follower.ended.then(() => stopping.delete(follower.ended))
      }
    },
    async stopped() {
      await Promise.all(stopping)
    },
  }
}
