const DOCUMENTATION = 'https://docs.github.com/rest'

/** An answer of the API that is not a success, worded as GitHub words it. */
export interface ApiError {
  readonly status: number
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

const marker = Symbol('api error')

export function apiError(
  status: number,
  message: string,
  headers?: Record<string, string>,
  more: object = {},
) {
  const body = { message, ...more, documentation_url: DOCUMENTATION, status: String(status) }
  return Object.assign(new Error(message), { status, body, ...(headers && { headers }), [marker]: true })
}

export function isApiError(error: unknown): error is Error & ApiError {
  return error instanceof Error && marker in error
}

export const notFound = () => apiError(404, 'Not Found')
export const badCredentials = () => apiError(401, 'Bad credentials')
export const notAccessible = (by: 'user' | 'app') =>
  apiError(403, `Resource not accessible by ${by === 'app' ? 'integration' : 'personal access token'}`)
export const unprocessable = (message: string) => apiError(422, message)
export const conflict = (message: string) => apiError(409, message)

/** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api */
export const secondaryLimit = (retryAfter: number | undefined) =>
  apiError(
    403,
    'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
    retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
  )
export const primaryLimit = (login: string, headers: Record<string, string> = {}) =>
  apiError(403, `API rate limit exceeded for user ID ${login}.`, headers)
