import { setTimeout as delay } from 'node:timers/promises'
import type { TaskStore } from './store.js'

/** Time as the service sees it: injected, so that tests decide what time it is. */
export interface Clock {
  /** ms since the epoch. */
  now(): number
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** A signal that aborts after `ms`. */
  timeout(ms: number): AbortSignal
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal && { signal }).catch(() => undefined),
  timeout: (ms) => AbortSignal.timeout(ms),
}

/** The clock that all processes on one store go by: the store's where it has one, else the system's. */
export function clockOf(store: TaskStore): Clock {
  const now = store.now?.bind(store)
  return now ? { ...systemClock, now } : systemClock
}
