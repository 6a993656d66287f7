import type { ReadQuota } from '../backend.js'

/** The part of a quota that is planned: the rest is for looks that come a little late, and for events. */
const PLANNED_SHARE = 0.9
/** How much slower looks get at most while the engine throttles. */
const MAX_SLOWDOWN = 16
/** How long after the last throttled look they get faster again, in ms: by half, then by half again. */
const RECOVERY_MS = 60_000

/** When looks may be sent, so that all of them together stay within the engine's quotas. All times in ms. */
export interface Pace {
  /** Whether one more look fits into the present second; takes its place if so. */
  admit(quota: ReadQuota, now: number): boolean
  /** The first moment from `from` on for which no other look is planned; takes its place. */
  plan(quota: ReadQuota, from: number, now: number): number
  /** The engine had enough: all looks under this quota get slower for a while. */
  throttled(quota: ReadQuota, now: number): void
}

interface Lane {
  /** When the last looks were sent, oldest first: as many as one window has room for. */
  readonly sent: number[]
  /** The slots that are taken, by number: slot `n` begins at `n` times their width. */
  readonly taken: Set<number>
  prunedAt: number
  throttledAt: number
  slowdown: number
}

/** One for a process: what other processes send is not known here, so the quota is this process's share. */
export function createPace(): Pace {
  const lanes = new Map<string, Lane>()

  function laneOf({ name }: ReadQuota): Lane {
    const present = lanes.get(name)
    if (present) return present
    const lane = { sent: [], taken: new Set<number>(), prunedAt: 0, throttledAt: 0, slowdown: 1 }
    lanes.set(name, lane)
    return lane
  }

  return {
    admit(quota, now) {
      const lane = laneOf(quota)
      const room = Math.max(1, Math.floor(quota.perSecond))
      const windowMs = Math.max(1000, (1000 * room) / quota.perSecond) * slowdown(lane, now)
      while (lane.sent.length > 0 && (lane.sent[0] ?? now) <= now - windowMs) lane.sent.shift()
      if (lane.sent.length >= room) return false
      lane.sent.push(now)
      return true
    },

    plan(quota, from, now) {
      const lane = laneOf(quota)
      const width = 1000 / (quota.perSecond * PLANNED_SHARE)
      prune(lane, now, width)
      const step = slowdown(lane, now)
      let slot = Math.ceil(from / width / step) * step
      while (lane.taken.has(slot)) slot += step
      lane.taken.add(slot)
      return Math.ceil(slot * width)
    },

    throttled(quota, now) {
      const lane = laneOf(quota)
      // Looks that were under way together are throttled together: they count once.
      if (lane.slowdown > 1 && now - lane.throttledAt < 1000) return
      lane.slowdown = Math.min(MAX_SLOWDOWN, slowdown(lane, now) * 2)
      lane.throttledAt = now
    },
  }
}

function slowdown(lane: Lane, now: number): number {
  const recovered = Math.floor(Math.max(0, now - lane.throttledAt) / RECOVERY_MS)
  return Math.max(1, lane.slowdown / 2 ** recovered)
}

/** Slots that are over need no place. Once a minute, so that it costs nothing. */
function prune(lane: Lane, now: number, width: number): void {
  if (Math.abs(now - lane.prunedAt) < RECOVERY_MS) return
  lane.prunedAt = now
  for (const slot of lane.taken) if (slot * width < now) lane.taken.delete(slot)
}
