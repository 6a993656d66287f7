import type { ErrorCode, RunbridgeError } from '../../errors.js'
import { lostText } from '../../result.js'
import type { TaskRecord } from '../../task.js'

/** A JSON-RPC 2.0 error object. */
export interface JsonRpcError {
  readonly code: number
  readonly message: string
  readonly data?: { readonly reason: ErrorCode | 'cancelled' }
}

const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603
/** Of an application, since JSON-RPC reserves -32768 to -32000; the same number as in LSP. */
const CANCELLED = -32800

/**
 * The JSON-RPC code of every error (2025-11-25 basic/utilities/tasks, "Protocol Errors"): what the caller can
 * mend is -32602, what it can't is -32603. `data.reason` keeps the difference.
 */
export const JSON_RPC_CODES: Readonly<Record<ErrorCode, number>> = {
  invalid_input: INVALID_PARAMS,
  task_not_found: INVALID_PARAMS,
  conflict: INVALID_PARAMS,
  missing_capability: INVALID_PARAMS,
  unsupported: INVALID_PARAMS,
  misconfigured: INTERNAL_ERROR,
  workflow_not_found: INTERNAL_ERROR,
  denied: INTERNAL_ERROR,
  unauthenticated: INTERNAL_ERROR,
  throttled: INTERNAL_ERROR,
  unavailable: INTERNAL_ERROR,
  unknown_outcome: INTERNAL_ERROR,
  too_large: INVALID_PARAMS,
  limit: INTERNAL_ERROR,
  internal: INTERNAL_ERROR,
}

export function jsonRpcError(error: RunbridgeError): JsonRpcError {
  const message =
    error.code === 'task_not_found' ? `Failed to retrieve task: ${error.message}` : error.message
  return { code: JSON_RPC_CODES[error.code], message, data: { reason: error.code } }
}

/** What `tasks/result` of a cancelled task is, whenever and whyever it was cancelled. */
export const CANCELLED_ERROR: JsonRpcError = {
  code: CANCELLED,
  message: 'The task was cancelled.',
  data: { reason: 'cancelled' },
}

/** What `tasks/result` of a lost run is. */
export function lostError(task: TaskRecord): JsonRpcError {
  const reason = task.failure?.code ?? 'unknown_outcome'
  return { code: INTERNAL_ERROR, message: lostText(task), data: { reason } }
}
