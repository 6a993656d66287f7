/**
 * Everything that can go wrong, in engine-neutral words. Each backend owns the table from engine errors to
 * these codes, each wire form the table from these codes to JSON-RPC errors.
 */
export const ERROR_CODES = [
  /** The caller's arguments or answer do not fit; the message names the path and the rule. */
  'invalid_input',
  /** No such task for this caller: unknown, foreign and expired ids are all this. */
  'task_not_found',
  /** The operation does not fit the task's state, such as deleting a running task. */
  'conflict',
  /** The caller lacks a capability that the tool needs. */
  'missing_capability',
  /** The tool, the engine or the store can't do this at all. */
  'unsupported',
  /** The configuration is wrong; the message names the entry and what to write instead. */
  'misconfigured',
  /** The engine knows no such workflow. */
  'workflow_not_found',
  /** The engine or the server says that this credential may not do this; the message names the permission. */
  'denied',
  /** The credential itself is expired, revoked or missing. */
  'unauthenticated',
  /** A quota is used up for now. */
  'throttled',
  /** The engine can't be reached or answers with a fault of its own. */
  'unavailable',
  /** It may have happened: the answer was lost. */
  'unknown_outcome',
  /** Something is larger than a documented limit. */
  'too_large',
  /** A bound of this server is reached, such as the number of open tasks. */
  'limit',
  /** A defect of Runbridge. */
  'internal',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * The one error of the product. `message` says what happened, to what, and what to do next; it is safe to
 * show to the caller: no secret, task token or callback URL is ever part of it.
 */
export class RunbridgeError extends Error {
  override readonly name = 'RunbridgeError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** The error itself, or `internal` around anything else, so that callers handle one shape. */
export function toRunbridgeError(thrown: unknown): RunbridgeError {
  if (thrown instanceof RunbridgeError) return thrown
  return new RunbridgeError(
    'internal',
    'Runbridge met an unexpected error; the server log has the details.',
    {
      cause: thrown,
    },
  )
}
