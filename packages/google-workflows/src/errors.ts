import { type ErrorCode, quoted, RunbridgeError } from '@runbridge/core'
import { EngineFailure } from './engine-failure.js'

interface ErrorRow {
  readonly code: ErrorCode
  /** Whether the call may have had an effect. */
  readonly effect: 'none' | 'unknown'
}

/** What each answer of Google becomes. https://cloud.google.com/apis/design/errors */
const ROWS: Readonly<Record<EngineFailure['status'], ErrorRow>> = {
  CANCELLED: { code: 'unavailable', effect: 'unknown' },
  UNKNOWN: { code: 'unavailable', effect: 'unknown' },
  INVALID_ARGUMENT: { code: 'invalid_input', effect: 'none' },
  DEADLINE_EXCEEDED: { code: 'unavailable', effect: 'unknown' },
  NOT_FOUND: { code: 'workflow_not_found', effect: 'none' },
  ALREADY_EXISTS: { code: 'conflict', effect: 'none' },
  PERMISSION_DENIED: { code: 'denied', effect: 'none' },
  RESOURCE_EXHAUSTED: { code: 'throttled', effect: 'none' },
  FAILED_PRECONDITION: { code: 'conflict', effect: 'none' },
  ABORTED: { code: 'unavailable', effect: 'unknown' },
  OUT_OF_RANGE: { code: 'invalid_input', effect: 'none' },
  UNIMPLEMENTED: { code: 'unsupported', effect: 'none' },
  INTERNAL: { code: 'unavailable', effect: 'unknown' },
  UNAVAILABLE: { code: 'unavailable', effect: 'unknown' },
  DATA_LOSS: { code: 'unavailable', effect: 'unknown' },
  UNAUTHENTICATED: { code: 'unauthenticated', effect: 'none' },
  NOT_SENT: { code: 'unauthenticated', effect: 'none' },
  NO_ANSWER: { code: 'unavailable', effect: 'unknown' },
}

/** The mapping as the documentation prints it. */
export const ERROR_TABLE: Readonly<Record<string, ErrorCode>> = Object.fromEntries(
  Object.entries(ROWS).map(([status, { code }]) => [status, code]),
)

/** What was asked of Google, for messages: the IAM permission and the resource it was for. */
export interface EngineRequest {
  readonly permission: string
  readonly resource: string
}

/** Whether Google said that the call did nothing, or nothing was sent. */
export function didNothing(thrown: unknown): boolean {
  return ROWS[failureOf(thrown).status].effect === 'none'
}

export function isNotFound(thrown: unknown): boolean {
  return failureOf(thrown).status === 'NOT_FOUND'
}

function failureOf(thrown: unknown): EngineFailure {
  return thrown instanceof EngineFailure ? thrown : new EngineFailure('NO_ANSWER', 'unexpected')
}

/**
 * What came to nothing, in our words. Google's own text may hold data of the run, so it is quoted only where it says what
 * is wrong with the request.
 */
export function engineError(thrown: unknown, request: EngineRequest): RunbridgeError {
  if (thrown instanceof RunbridgeError) return thrown
  const failure = failureOf(thrown)
  const { code } = ROWS[failure.status]
  if (failure.status === 'NOT_SENT' && failure.why === TIMED_OUT) {
    return new RunbridgeError(
      'unavailable',
      `${request.permission} on ${request.resource} was not sent in time.`,
    )
  }
  return new RunbridgeError(code, (MESSAGES[code] ?? plain)(failure, request))
}

/** Why a call was given up before it was sent, or before its answer. */
export const TIMED_OUT = 'not answered in time'

type Message = (failure: EngineFailure, request: EngineRequest) => string

const MESSAGES: Partial<Record<ErrorCode, Message>> = {
  denied({ reason, permission }, request) {
    if (reason === 'SERVICE_DISABLED') {
      return `The API for ${request.permission} is off in the project of ${request.resource}; enable Workflows and Workflow Executions there.`
    }
    return `Google does not allow ${permission ?? request.permission} on ${request.resource}; grant it to the server's account, or check that the resource exists.`
  },
  unauthenticated({ status, why }, { permission }) {
    return status === 'NOT_SENT'
      ? `There are no usable Google credentials for ${permission} (${why}); look at application default credentials, the key file or the federation of the server.`
      : `Google does not accept the credentials for ${permission} (${why}); renew them.`
  },
  throttled: ({ why }, { permission, resource }) =>
    `Google limits ${permission} on ${resource} for now (${why}); it is tried again later.`,
  workflow_not_found: ({ why }, { resource }) =>
    `Google does not show ${resource} (${why}); check project, location and name.`,
  unavailable: ({ why }, { permission, resource }) =>
    `Google could not answer ${permission} on ${resource} (${why}).`,
}

function plain({ status, said }: EngineFailure, { permission, resource }: EngineRequest): string {
  const words = said === '' ? '' : `: ${quoted(said)}`
  return `Google refused ${permission} on ${resource} (${status})${words}.`
}
