/** The codes of google.rpc.Code without OK, by number. */
const RPC_STATUSES = [
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const
export type RpcStatus = (typeof RPC_STATUSES)[number]

/**
 * A call that came to nothing, in one shape for gRPC and REST. Holds nothing of the request: a callback's URL is in
 * the errors of HTTP clients.
 */
export class EngineFailure extends Error {
  override readonly name = 'EngineFailure'
  /** `NOT_SENT`: nothing left this process. `NO_ANSWER`: something may have reached Google. */
  readonly status: RpcStatus | 'NOT_SENT' | 'NO_ANSWER'
  /** A word for messages: a network error's code, an HTTP status. */
  readonly why: string
  /** The permission that Google says is missing. */
  readonly permission: string | undefined
  /** `SERVICE_DISABLED` where the API is off in the project. */
  readonly reason: string | undefined
  /** Google's own text. */
  readonly said: string

  constructor(status: EngineFailure['status'], why: string, said = '', reason?: string, permission?: string) {
    super(`${status} (${why})`)
    this.status = status
    this.why = why
    this.said = said
    this.reason = reason
    this.permission = permission
  }
}

interface Thrown {
  readonly code?: unknown
  readonly message?: unknown
  readonly status?: unknown
  readonly reason?: unknown
  readonly metadata?: unknown
  readonly errorInfoMetadata?: { readonly permission?: unknown }
  readonly response?: { readonly status?: unknown }
}

/** What Google's client threw: a gRPC status, or on REST an HTTP answer or the lack of one. */
export function clientFailure(thrown: unknown): EngineFailure {
  if (thrown instanceof EngineFailure) return thrown
  const error = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Thrown
  const said = typeof error.message === 'string' ? error.message : ''
  const status = error.response?.status
  if (typeof status === 'number') return httpFailure(status, said)
  const rpc = typeof error.code === 'number' ? RPC_STATUSES[error.code - 1] : undefined
  if (rpc === undefined) return new EngineFailure('NO_ANSWER', word(error.code) ?? 'no answer')
  // An answer of HTTP without a status of gRPC, as a proxy gives it: the library makes up a status.
  const [, http] = /Received HTTP status code (\d{3})/.exec(said) ?? []
  if (http !== undefined) return httpFailure(Number(http), '')
  const reason = typeof error.reason === 'string' ? error.reason : undefined
  const permission = error.errorInfoMetadata?.permission
  return new EngineFailure(
    rpc,
    rpc,
    said.replace(/^\d+ [A-Z_]+: /, ''),
    reason,
    word(permission) ?? named(said),
  )
}

/** An HTTP answer that is no success. Only Google's own errors say anything of the call; a proxy's page does not. */
export function httpFailure(status: number, body: string): EngineFailure {
  const error = parsed(body)?.error
  const why = `HTTP ${status}`
  const rpc = RPC_STATUSES.find((each) => each === error?.status)
  if (error && rpc) {
    const info = error.details?.find((detail) => detail.reason !== undefined)
    const said = typeof error.message === 'string' ? error.message : ''
    return new EngineFailure(
      rpc,
      why,
      said,
      word(info?.reason),
      word(info?.metadata?.permission) ?? named(said),
    )
  }
  // Whoever limits the rate has not let the call through.
  return new EngineFailure(status === 429 ? 'RESOURCE_EXHAUSTED' : 'NO_ANSWER', why)
}

interface ErrorBody {
  readonly error?: {
    readonly status?: unknown
    readonly message?: unknown
    readonly details?: readonly {
      readonly reason?: unknown
      readonly metadata?: { readonly permission?: unknown }
    }[]
  }
}

function parsed(body: string): ErrorBody | undefined {
  try {
    const json: unknown = JSON.parse(body)
    return typeof json === 'object' && json !== null ? (json as ErrorBody) : undefined
  } catch {
    return undefined
  }
}

function word(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.-]{1,80}$/.test(value) ? value : undefined
}

/** Google's words for a denial name the permission. */
function named(said: string): string | undefined {
  return /ermission '([a-z]+(?:\.[A-Za-z]+){2})'/.exec(said)?.[1]
}
