import { isTerminal, type Owner, RUN_STATES, RunbridgeError, type TaskService } from '@runbridge/core'
import type { Limits } from './limits.js'

const OPEN_STATES = RUN_STATES.filter((state) => !isTerminal(state))

/** The bounds on what one owner may have under way in this process. */
export interface CallGate {
  /** Runs a call; throws `limit` when there are too many, unless it is `urgent`. */
  call<T>(owner: Owner, work: () => Promise<T>, urgent?: boolean): Promise<T>
  /**
   * Throws `limit` when the owner has too many open tasks. Calls that start at the same moment do not see each
   * other, so the bound can be passed by as many as may be under way.
   */
  admit(owner: Owner, service: TaskService): Promise<void>
  /** Resolves when no call is under way. */
  idle(): Promise<void>
}

export function callGate(limits: Limits): CallGate {
  const underWay = new Map<Owner, Set<Promise<unknown>>>()
  return {
    async call(owner, work, urgent = false) {
      const calls = underWay.get(owner) ?? new Set()
      if (calls.size >= limits.maxCalls && !urgent) {
        throw new RunbridgeError(
          'limit',
          `This server answers at most ${limits.maxCalls} calls of one caller at a time. Nothing was started; call again when one has ended.`,
        )
      }
      const running = work()
      underWay.set(owner, calls.add(running))
      try {
        return await running
      } finally {
        calls.delete(running)
        if (calls.size === 0) underWay.delete(owner)
      }
    },
    async admit(owner, service) {
      const { tasks } = await service.list(owner, { states: OPEN_STATES }, { limit: limits.maxOpenTasks })
      if (tasks.length < limits.maxOpenTasks) return
      throw new RunbridgeError(
        'limit',
        `This caller has ${tasks.length} open tasks, the most this server allows. Nothing was started; wait for one to end or cancel one.`,
      )
    },
    async idle() {
      await Promise.allSettled([...underWay.values()].flatMap((calls) => [...calls]))
    },
  }
}
