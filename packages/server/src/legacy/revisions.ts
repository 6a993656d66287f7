/** The revision whose core specification has tasks; those before it and after it have none. */
export const TASKS_REVISION = '2025-11-25'

/**
 * A result is kept at least this long after the end, in ms, whatever a client asks for: two of the longest
 * intervals that it is told to poll at, so that one who keeps to them sees the end.
 */
const MIN_RETAIN_MS = 120_000

/** What a client's ttl or keepAlive comes to, before the tool's own limit. */
export function retained(askedMs: number | undefined): { readonly retainMs?: number } {
  return askedMs === undefined ? {} : { retainMs: Math.max(askedMs, MIN_RETAIN_MS) }
}
