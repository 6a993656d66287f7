import { type Owner, RunbridgeError } from '@runbridge/core'
import type { Limits } from './limits.js'

/** The bounds on what one owner may have under way in this process. */
export interface CallGate {
  /** Runs a call; throws `limit` when there are too many, unless it is `urgent`. */
  call<T>(owner: Owner, work: () => Promise<T>, urgent?: boolean): Promise<T>
  /**
   * Begins to wait for a person on behalf of a call that is not under way meanwhile; returns the way to end that. Undefined
   * where as many calls of this owner wait so as it may have open tasks.
   */
  question(owner: Owner): (() => void) | undefined
  /** Resolves when no call is under way. */
  idle(): Promise<void>
}

export function callGate(limits: Limits): CallGate {
  const underWay = new Map<Owner, Set<Promise<unknown>>>()
  const asking = new Map<Owner, number>()
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
    question(owner) {
      const out = asking.get(owner) ?? 0
      if (out >= limits.maxOpenTasks) return undefined
      asking.set(owner, out + 1)
      return () => {
        const left = (asking.get(owner) ?? 0) - 1
        if (left > 0) asking.set(owner, left)
        else asking.delete(owner)
      }
    },
    async idle() {
      await Promise.allSettled([...underWay.values()].flatMap((calls) => [...calls]))
    },
  }
}
