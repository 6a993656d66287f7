/** The codes of google.rpc with the HTTP status that Google's REST surface gives each. */
export const RPC_CODES = {
  CANCELLED: [1, 499],
  UNKNOWN: [2, 500],
  INVALID_ARGUMENT: [3, 400],
  DEADLINE_EXCEEDED: [4, 504],
  NOT_FOUND: [5, 404],
  ALREADY_EXISTS: [6, 409],
  PERMISSION_DENIED: [7, 403],
  RESOURCE_EXHAUSTED: [8, 429],
  FAILED_PRECONDITION: [9, 400],
  ABORTED: [10, 409],
  OUT_OF_RANGE: [11, 400],
  UNIMPLEMENTED: [12, 501],
  INTERNAL: [13, 500],
  UNAVAILABLE: [14, 503],
  DATA_LOSS: [15, 500],
  UNAUTHENTICATED: [16, 401],
} as const satisfies Record<string, readonly [number, number]>

export type RpcStatus = keyof typeof RPC_CODES
export const RPC_STATUSES = Object.keys(RPC_CODES) as [RpcStatus, ...RpcStatus[]]

/** An answer of the API that is not a success. */
export interface ApiError {
  readonly status: RpcStatus
  readonly message: string
  /** The IAM permission of a denial, as google.rpc.ErrorInfo has it. */
  readonly permission?: string
}

const marker = Symbol('api error')

export function apiError(status: RpcStatus, message: string, permission?: string): Error & ApiError {
  return Object.assign(new Error(message), {
    status,
    message,
    ...(permission !== undefined && { permission }),
    [marker]: true,
  })
}

export function isApiError(error: unknown): error is Error & ApiError {
  return error instanceof Error && marker in error
}

/** As Google words it: it does not tell a resource that is not there from one that may not be seen. */
export const denied = (permission: string, resource: string) =>
  apiError(
    'PERMISSION_DENIED',
    `Permission '${permission}' denied on resource '${resource}' (or it may not exist).`,
    permission,
  )
export const notFound = (what: string, name: string) =>
  apiError('NOT_FOUND', `${what} "${name}" was not found.`)
export const invalid = (message: string) => apiError('INVALID_ARGUMENT', message)
