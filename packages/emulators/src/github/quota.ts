/** The primary rate limit of each token: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api */
export interface Quota {
  /** Counts a request; false where none is left. */
  spend(token: string): boolean
  headers(token: string): Record<string, string>
}

const HOUR_MS = 3_600_000

export function quota(limit: number, now: () => number): Quota {
  const windows = new Map<string, { used: number; resetAt: number }>()
  const windowOf = (token: string) => {
    const present = windows.get(token)
    if (present && present.resetAt > now()) return present
    const fresh = { used: 0, resetAt: now() + HOUR_MS }
    windows.set(token, fresh)
    return fresh
  }
  return {
    spend(token) {
      const window = windowOf(token)
      if (window.used >= limit) return false
      window.used += 1
      return true
    },
    headers(token) {
      const { used, resetAt } = windowOf(token)
      return {
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-remaining': String(limit - used),
        'x-ratelimit-used': String(used),
        'x-ratelimit-reset': String(Math.ceil(resetAt / 1000)),
        'x-ratelimit-resource': 'core',
      }
    },
  }
}
