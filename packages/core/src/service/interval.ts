import { isSettled, type TaskRecord } from '../task.js'

export const MIN_INTERVAL_MS = 1_000
export const MAX_INTERVAL_MS = 60_000
/** The interval is this part of the run's age: an end is seen at most this much too late. */
const AGE_SHARE = 1 / 5

/** How long after a look the engine is read again, in ms, as far as the age of the run goes. */
export function pollInterval(record: TaskRecord, now: number): number {
  if (isSettled(record)) return MIN_INTERVAL_MS
  const { createdAt, snapshot } = record
  // A run that is watched may be much older than its task.
  const age = now - Math.min(createdAt, snapshot?.startedAt ?? createdAt)
  return Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, Math.round(age * AGE_SHARE)))
}

/** What a client is told: when the engine is read again, and so something new can be seen, in ms. */
export function askAgainIn(record: TaskRecord, now: number): number {
  return isSettled(record) ? MIN_INTERVAL_MS : Math.max(MIN_INTERVAL_MS, record.refreshAfter - now)
}
