import type { ErrorCode, RunbridgeError } from '../../errors.js'
import { lostText } from '../../result.js'
import type { TaskRecord } from '../../task.js'
import type { WireStatus } from './states.js'

/** A JSON-RPC 2.0 error object. */
export interface JsonRpcError {
  readonly code: number
  readonly message: string
  readonly data?: { readonly reason: ErrorCode }
}

const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

/** The JSON-RPC code of every error (SEP-1686, 7.1): -32602 for what the caller can mend, else -32603. */
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

/** `tasks/result` of a task that is not `completed` (7.1, in its words). */
export function notCompleted(status: WireStatus): JsonRpcError {
  return {
    code: INVALID_PARAMS,
    message: `Cannot retrieve result: Task status is '${status}', not 'completed'`,
    data: { reason: 'conflict' },
  }
}

/** What the original call is answered with when its run is lost. */
export function lostError(task: TaskRecord): JsonRpcError {
  const reason = task.failure?.code ?? 'unknown_outcome'
  return { code: INTERNAL_ERROR, message: lostText(task), data: { reason } }
}
