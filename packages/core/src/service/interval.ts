import { isSettled, type TaskRecord } from '../task.js'

export const MIN_INTERVAL_MS = 1_000
export const MAX_INTERVAL_MS = 60_000
/** The interval is this part of the run's age: an end is seen at most this much too late. */
const AGE_SHARE = 1 / 5

/** How long to wait before the engine is read again, in ms; what the client is told as well. */
export function pollInterval(record: TaskRecord, now: number): number {
  if (isSettled(record)) return MIN_INTERVAL_MS
  const share = Math.round((now - record.createdAt) * AGE_SHARE)
  return Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, share))
}
