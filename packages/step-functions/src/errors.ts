import type { SFNServiceException } from '@aws-sdk/client-sfn'
import { type ErrorCode, RunbridgeError } from '@runbridge/core'

type Sdk = typeof import('@aws-sdk/client-sfn')
/** Every error that the SDK models for Step Functions, so that a new one does not compile here. */
type ModeledError = {
  [Name in keyof Sdk]: Sdk[Name] extends abstract new (
    ...args: never
  ) => infer Thrown
    ? Thrown extends SFNServiceException
      ? Exclude<Name, 'SFNServiceException'>
      : never
    : never
}[keyof Sdk]

const MODELED: Record<ModeledError, ErrorCode> = {
  ActivityAlreadyExists: 'conflict',
  ActivityDoesNotExist: 'workflow_not_found',
  ActivityLimitExceeded: 'throttled',
  ActivityWorkerLimitExceeded: 'throttled',
  ConflictException: 'conflict',
  ExecutionAlreadyExists: 'conflict',
  ExecutionDoesNotExist: 'conflict',
  ExecutionLimitExceeded: 'throttled',
  ExecutionNotRedrivable: 'conflict',
  InvalidArn: 'misconfigured',
  InvalidDefinition: 'misconfigured',
  InvalidEncryptionConfiguration: 'misconfigured',
  InvalidExecutionInput: 'invalid_input',
  InvalidLoggingConfiguration: 'misconfigured',
  InvalidName: 'invalid_input',
  InvalidOutput: 'invalid_input',
  InvalidToken: 'conflict',
  InvalidTracingConfiguration: 'misconfigured',
  KmsAccessDeniedException: 'denied',
  KmsInvalidStateException: 'misconfigured',
  KmsThrottlingException: 'throttled',
  MissingRequiredParameter: 'misconfigured',
  ResourceNotFound: 'workflow_not_found',
  ServiceQuotaExceededException: 'throttled',
  StateMachineAlreadyExists: 'conflict',
  StateMachineDeleting: 'workflow_not_found',
  StateMachineDoesNotExist: 'workflow_not_found',
  StateMachineLimitExceeded: 'throttled',
  StateMachineTypeNotSupported: 'unsupported',
  TaskDoesNotExist: 'conflict',
  TaskTimedOut: 'conflict',
  TooManyTags: 'misconfigured',
  ValidationException: 'invalid_input',
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/CommonErrors.html, and what other layers say. */
const COMMON = {
  AccessDenied: 'denied',
  AccessDeniedException: 'denied',
  NotAuthorized: 'denied',
  OptInRequired: 'denied',
  UnauthorizedOperation: 'denied',
  ExpiredToken: 'unauthenticated',
  ExpiredTokenException: 'unauthenticated',
  IncompleteSignature: 'unauthenticated',
  IncompleteSignatureException: 'unauthenticated',
  InvalidClientTokenId: 'unauthenticated',
  InvalidSignatureException: 'unauthenticated',
  MissingAuthenticationToken: 'unauthenticated',
  MissingAuthenticationTokenException: 'unauthenticated',
  RequestExpired: 'unauthenticated',
  SignatureDoesNotMatch: 'unauthenticated',
  UnrecognizedClientException: 'unauthenticated',
  RequestLimitExceeded: 'throttled',
  RequestThrottled: 'throttled',
  RequestThrottledException: 'throttled',
  SlowDown: 'throttled',
  Throttling: 'throttled',
  ThrottlingException: 'throttled',
  ThrottledException: 'throttled',
  TooManyRequestsException: 'throttled',
  LimitExceededException: 'throttled',
  UnknownOperationException: 'unsupported',
  InternalFailure: 'unavailable',
  InternalServerError: 'unavailable',
  InternalServerException: 'unavailable',
  ServiceUnavailable: 'unavailable',
  ServiceUnavailableException: 'unavailable',
} as const satisfies Record<string, ErrorCode>

/** Raised by the SDK before anything is sent, whatever the call: there is no credential to sign it with. */
const NOT_SENT: ReadonlySet<string> = new Set(['CredentialsProviderError', 'TokenProviderError'])

export const ERROR_TABLE: Readonly<Record<string, ErrorCode>> = { ...COMMON, ...MODELED }

/** What was asked of AWS, for messages: the IAM action and the ARN it was for. */
export interface EngineRequest {
  readonly action: string
  readonly resource: string
}

interface Thrown {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number }
}

function shape(thrown: unknown): Thrown {
  const isObject = typeof thrown === 'object' && thrown !== null
  return isObject
    ? ({ name: 'Error', message: '', ...pick(thrown) } as Thrown)
    : { name: 'Error', message: '' }
}

/** `name` and `message` of an Error are not its own enumerable properties. */
function pick(thrown: object): object {
  const { name, message, code, $metadata } = thrown as Partial<Thrown>
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof message === 'string' && { message }),
    ...(typeof code === 'string' && { code }),
    ...(typeof $metadata === 'object' && { $metadata }),
  }
}

export function errorName(thrown: unknown): string {
  return shape(thrown).name
}

/**
 * Whether AWS said, in the answer to the only attempt, that the call did nothing. A reset, a time-out, a 5xx, an
 * answer of something in between, and any answer to a second attempt say nothing of the kind. A RunbridgeError is of
 * credentials that were not there to sign it with.
 */
export function didNothing(thrown: unknown): boolean {
  const { name, $metadata } = shape(thrown)
  if (thrown instanceof RunbridgeError) return true
  if (NOT_SENT.has(name)) return true
  const status = $metadata?.httpStatusCode ?? 0
  const onlyAttempt = ($metadata?.attempts ?? 1) <= 1
  return Object.hasOwn(ERROR_TABLE, name) && status >= 400 && status < 500 && onlyAttempt
}

/**
 * What AWS or the SDK threw, in our words. AWS's own text may hold data of the run, so of it only the action and
 * the resource that a denial names are passed on, and only where they have that form.
 */
export function engineError(thrown: unknown, request: EngineRequest): RunbridgeError {
  if (thrown instanceof RunbridgeError) return thrown
  const raw = shape(thrown)
  const { action, resource } = request
  const options = { cause: thrown }
  if (NOT_SENT.has(raw.name)) {
    const message = `There are no usable AWS credentials for ${action}; look at the profile, the environment or the role of the server.`
    return new RunbridgeError('unauthenticated', message, options)
  }
  if (raw.name === 'AbortError') {
    return new RunbridgeError('unavailable', `${action} on ${resource} was not answered in time.`, options)
  }
  const code = codeOf(raw)
  return new RunbridgeError(code, MESSAGES[code]?.(raw, request) ?? plain(raw, request), options)
}

function codeOf({ name, $metadata }: Thrown): ErrorCode {
  const known = Object.hasOwn(ERROR_TABLE, name) ? ERROR_TABLE[name] : undefined
  if (known) return known
  const status = $metadata?.httpStatusCode
  if (status === 429) return 'throttled'
  return status === 401 || status === 403 ? 'denied' : 'unavailable'
}

type Message = (thrown: Thrown, request: EngineRequest) => string

const MESSAGES: Partial<Record<ErrorCode, Message>> = {
  denied: (thrown, request) => {
    if (thrown.name === 'KmsAccessDeniedException') {
      return `The key of ${request.resource} may not be used for ${request.action}; allow kms:Decrypt on it to the role or user that asked.`
    }
    const { action, resource } = deniedPermission(thrown.message) ?? request
    return `AWS does not allow ${action} on ${resource}; allow it to the role or user that asked.`
  },
  unauthenticated: ({ name }, { action }) =>
    `AWS does not accept the credentials for ${action} (${name}); renew them.`,
  throttled: ({ name }, { action, resource }) =>
    `AWS limits ${action} on ${resource} for now (${name}); it is tried again later.`,
  workflow_not_found: ({ name }, { resource }) =>
    `AWS does not show ${resource} (${name}); check the name, the region and the account.`,
  unavailable: ({ name, code, $metadata }, { action, resource }) => {
    const why = code ?? ($metadata?.httpStatusCode ? `HTTP ${$metadata.httpStatusCode}` : name)
    return `AWS could not answer ${action} on ${resource} (${why}).`
  },
}

function plain({ name }: Thrown, { action, resource }: EngineRequest): string {
  return `AWS refused ${action} on ${resource} (${name}).`
}

/** IAM's own words: https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html */
export function deniedPermission(message: string): EngineRequest | undefined {
  const found =
    /is not authorized to perform: ([a-z0-9-]+:[A-Za-z*]+)(?: on resource: (arn:[^\s"]+|\*))?/.exec(message)
  return found?.[1] ? { action: found[1], resource: found[2] ?? 'this resource' } : undefined
}
