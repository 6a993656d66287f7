import { type ErrorCode, oneLine, quoted, RunbridgeError, type Unreadable } from '@runbridge/core'

/** https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api; what is not here is by class. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_input',
  401: 'unauthenticated',
  403: 'denied',
  404: 'workflow_not_found',
  409: 'conflict',
  410: 'workflow_not_found',
  413: 'too_large',
  422: 'invalid_input',
  429: 'throttled',
  451: 'denied',
}

/** The mapping as the documentation prints it. */
export const ERROR_TABLE: readonly { readonly native: string; readonly code: ErrorCode }[] = [
  ...Object.entries(BY_STATUS).map(([status, code]) => ({ native: status, code })),
  { native: '403 or 429 with `retry-after`, no requests left, or a secondary limit', code: 'throttled' },
  { native: '5xx, no answer', code: 'unavailable' },
]

/** What was asked of GitHub, for messages: in words, and the permission that it needs. */
export interface Asked {
  readonly what: string
  readonly permission?: string
}

interface Thrown {
  readonly status?: unknown
  readonly message?: unknown
  readonly name?: unknown
  readonly response?: {
    readonly headers?: Readonly<Record<string, string | number | undefined>>
    readonly data?: unknown
  }
}

/** What GitHub answered; undefined where there was no answer. Octokit gives 500 to what never left. */
export function statusOf(thrown: unknown): number | undefined {
  const { status, response } = shape(thrown)
  return response !== undefined && typeof status === 'number' ? status : undefined
}

/** GitHub's own sentence, where it gave one. */
export function messageOf(thrown: unknown): string {
  const { data } = shape(thrown).response ?? {}
  const message =
    typeof data === 'object' && data !== null ? (data as { message?: unknown }).message : undefined
  return typeof message === 'string' ? message : ''
}

function shape(thrown: unknown): Thrown {
  return typeof thrown === 'object' && thrown !== null ? (thrown as Thrown) : {}
}

/**
 * For how long GitHub wants to be left alone, in ms; undefined where it did not say so.
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
 */
export function limitedForMs(thrown: unknown, now: number): number | undefined {
  const status = statusOf(thrown)
  if (status !== 403 && status !== 429) return undefined
  const { headers = {} } = shape(thrown).response ?? {}
  const after = Number(headers['retry-after'])
  if (headers['retry-after'] !== undefined && Number.isFinite(after)) return Math.max(0, after * 1000)
  if (String(headers['x-ratelimit-remaining']) === '0') {
    const reset = Number(headers['x-ratelimit-reset']) * 1000
    return Number.isFinite(reset) ? Math.max(1000, reset - now + 1000) : 60_000
  }
  return status === 429 || /secondary rate|abuse detection/i.test(messageOf(thrown)) ? 60_000 : undefined
}

/** What was thrown, in our words. Of GitHub's own words only its one sentence is passed on, quoted. */
export function engineError(thrown: unknown, asked: Asked, now: number): RunbridgeError {
  if (thrown instanceof RunbridgeError) return thrown
  const status = statusOf(thrown)
  const limited = limitedForMs(thrown, now)
  const code: ErrorCode =
    limited !== undefined ? 'throttled' : (status !== undefined && BY_STATUS[status]) || 'unavailable'
  const message = MESSAGES[code]?.(asked, thrown, limited) ?? refused(asked, thrown)
  return new RunbridgeError(code, message, { cause: thrown })
}

const MESSAGES: Partial<Record<ErrorCode, (asked: Asked, thrown: unknown, limited?: number) => string>> = {
  denied: ({ what, permission }) =>
    `GitHub does not allow ${what}; give the token ${permission === undefined ? 'access to it' : `the permission ${permission}`}.`,
  unauthenticated: ({ what }) => `GitHub does not accept the credentials for ${what}; renew them.`,
  throttled: ({ what }, _, limited = 0) =>
    `GitHub limits ${what} for now; it is tried again after ${Math.ceil(limited / 1000)} s.`,
  workflow_not_found: ({ what }) =>
    `GitHub does not show ${what}; check the names, and that the token sees the repository.`,
  unavailable: ({ what }, thrown) => {
    const status = statusOf(thrown)
    const { name, message } = shape(thrown)
    const why =
      status === undefined
        ? oneLine(String(name === 'AbortError' ? 'no answer in time' : message), 120)
        : `HTTP ${status}`
    return `GitHub could not answer ${what} (${why}).`
  },
}

function refused({ what }: Asked, thrown: unknown): string {
  const said = messageOf(thrown)
  return `GitHub refused ${what} with ${statusOf(thrown)}${said === '' ? '' : `: ${quoted(said)}`}.`
}

export function unreadable(thrown: unknown, asked: Asked, now: number): Unreadable {
  const error = engineError(thrown, asked, now)
  const retryAfterMs = pauseOf(thrown) ?? limitedForMs(thrown, now)
  return { kind: 'unreadable', error, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

const PAUSE = Symbol('pause')

/** A request that was not sent, since GitHub wants to be left alone for `ms` more. */
export function paused({ what }: Asked, ms: number): RunbridgeError {
  const message = `GitHub limits requests for now, so ${what} was not asked for; it is tried again after ${Math.ceil(ms / 1000)} s.`
  return Object.assign(new RunbridgeError('throttled', message), { [PAUSE]: ms })
}

function pauseOf(thrown: unknown): number | undefined {
  return (thrown as { [PAUSE]?: number } | null)?.[PAUSE]
}
