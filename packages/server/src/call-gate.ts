import { type Owner, RunbridgeError } from '@runbridge/core'
import type { Limits } from './limits.js'

/** The bound on what one owner may have under way in this process. */
export interface CallGate {
  /** Runs a call; throws `limit` when there are too many, unless it is `urgent`. */
  call<T>(owner: Owner, work: () => Promise<T>, urgent?: boolean): Promise<T>
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
    async idle() {
      await Promise.allSettled([...underWay.values()].flatMap((calls) => [...calls]))
    },
  }
}
