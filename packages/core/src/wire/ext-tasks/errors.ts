import type { ErrorCode, RunbridgeError } from '../../errors.js'
import { lostText } from '../../result.js'
import type { TaskRecord } from '../../task.js'

/** A JSON-RPC 2.0 error object. */
export interface JsonRpcError {
  readonly code: number
  readonly message: string
  readonly data?: { readonly reason: ErrorCode }
}

const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603
const MISSING_CLIENT_CAPABILITY = -32021

/**
 * The JSON-RPC code of every error (2026-07-28 basic, "Error Codes"; ext-tasks, "Protocol Errors"): what the
 * caller can mend is -32602, what it can't is -32603. `data.reason` keeps the difference.
 */
export const JSON_RPC_CODES: Readonly<Record<ErrorCode, number>> = {
  invalid_input: INVALID_PARAMS,
  task_not_found: INVALID_PARAMS,
  conflict: INVALID_PARAMS,
  missing_capability: MISSING_CLIENT_CAPABILITY,
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
  return { code: JSON_RPC_CODES[error.code], message: error.message, data: { reason: error.code } }
}

/** The error that a `failed` task carries: only a lost run has one. */
export function taskError(task: TaskRecord): JsonRpcError {
  const reason = task.failure?.code ?? 'unknown_outcome'
  return { code: INTERNAL_ERROR, message: lostText(task), data: { reason } }
}
