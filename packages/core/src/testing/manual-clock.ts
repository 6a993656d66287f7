import type { Clock } from '../clock.js'

export interface ManualClock extends Clock {
  /** Lets `ms` pass: whatever is due meanwhile happens in its order, each at its own time. */
  advance(ms: number): Promise<void>
  /** Jumps without anything becoming due in between, as a corrected system clock does. */
  jump(ms: number): void
}

interface Alarm {
  readonly at: number
  readonly ring: () => void
}

/**
 * A clock that stands still until it is told to go on.
 * @param options.start ms since the epoch
 * @param options.autoAdvance a sleep takes no time to wait for: it moves the clock to its own end at once
 */
export function manualClock(options: { start?: number; autoAdvance?: boolean } = {}): ManualClock {
  let now = options.start ?? Date.UTC(2026, 6, 28)
  const alarms = new Set<Alarm>()

  function alarm(ms: number, ring: () => void): Alarm {
    const set = { at: now + ms, ring }
    alarms.add(set)
    return set
  }

  function ringUntil(end: number): boolean {
    const due = [...alarms].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
    if (!due) return false
    alarms.delete(due)
    now = Math.max(now, due.at)
    due.ring()
    return true
  }

  const clock: ManualClock = {
    now: () => now,
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve()
      const slept = new Promise<void>((resolve) => {
        const wake = () => {
          alarms.delete(set)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        const set = alarm(ms, wake)
        signal?.addEventListener('abort', wake)
      })
      return options.autoAdvance ? clock.advance(ms).then(() => slept) : slept
    },
    timeout(ms) {
      const controller = new AbortController()
      alarm(ms, () => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')))
      return controller.signal
    },
    async advance(ms) {
      const end = now + ms
      await settled()
      while (ringUntil(end)) await settled()
      now = Math.max(now, end)
    },
    jump(ms) {
      now += ms
    },
  }
  return clock
}

/** Lets everything that can go on without time do so. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
