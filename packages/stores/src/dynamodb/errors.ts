import { type ErrorCode, RunbridgeError } from '@runbridge/core'

type Meaning = readonly [ErrorCode, string]

const BUSY: Meaning = [
  'unavailable',
  'is throttled. Nothing was written: try again, and look at the table’s limits.',
]
const UNREACHABLE: Meaning = [
  'unavailable',
  'can’t be reached. Nothing was written, or all of it: look again.',
]
const CREDENTIALS: Meaning = [
  'unauthenticated',
  'refuses the AWS credentials of this server: they are missing, expired or of another account. Renew them.',
]
const RIGHTS: Meaning = [
  'misconfigured',
  'does not let this server work with it. Allow dynamodb:GetItem, BatchGetItem, Query, PutItem, UpdateItem and DeleteItem on the table and Query on its indexes.',
]
const SHAPE: Meaning = [
  'misconfigured',
  'has another shape than a task store needs. Make a table for it alone, as docs/stores.md shows.',
]
const TOO_LARGE: Meaning = ['too_large', 'does not take a record or an id of this size.']

/** By the error's name (docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html). */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  ResourceNotFoundException: [
    'misconfigured',
    'is not there: the region has no table of this name. Create it as docs/stores.md shows, or name another.',
  ],
  AccessDeniedException: RIGHTS,
  UnrecognizedClientException: CREDENTIALS,
  InvalidSignatureException: CREDENTIALS,
  IncompleteSignatureException: CREDENTIALS,
  MissingAuthenticationTokenException: CREDENTIALS,
  ExpiredTokenException: CREDENTIALS,
  CredentialsProviderError: CREDENTIALS,
  TokenProviderError: CREDENTIALS,
  ProvisionedThroughputExceededException: BUSY,
  RequestLimitExceeded: BUSY,
  ThrottlingException: BUSY,
  ResourceInUseException: ['unavailable', 'is being created or changed. Try again in a moment.'],
  ItemCollectionSizeLimitExceededException: TOO_LARGE,
  InternalServerError: UNREACHABLE,
  ServiceUnavailable: UNREACHABLE,
  TimeoutError: UNREACHABLE,
  AbortError: UNREACHABLE,
}

/** For an answer that leaves out what it had no room for, which is no error of its own. */
export function busy(): RunbridgeError {
  return new RunbridgeError(BUSY[0], `The task store ${BUSY[1]}`)
}

export function isRefusedCondition(thrown: unknown): boolean {
  return nameOf(thrown) === 'ConditionalCheckFailedException'
}

function nameOf(thrown: unknown): string {
  const name = (thrown as { name?: unknown } | undefined)?.name
  return typeof name === 'string' ? name : ''
}

function meaning(thrown: unknown): Meaning | undefined {
  const name = nameOf(thrown)
  if (Object.hasOwn(MEANINGS, name)) return MEANINGS[name]
  const { code, message, $metadata } = (thrown ?? {}) as {
    code?: unknown
    message?: unknown
    $metadata?: { httpStatusCode?: number }
  }
  if (name === 'ValidationException') {
    if (/size|limit/i.test(String(message))) return TOO_LARGE
    return /schema|index/i.test(String(message)) ? SHAPE : undefined
  }
  const failed =
    ($metadata?.httpStatusCode ?? 0) >= 500 || (typeof code === 'string' && /^E[A-Z_]+$/.test(code))
  return failed ? UNREACHABLE : undefined
}

/** @param subject what the message is about: the table when it is opened, no name where callers may read it */
export function storeError(thrown: unknown, subject: string): RunbridgeError {
  if (thrown instanceof RunbridgeError) return thrown
  const [code, what] = meaning(thrown) ?? ['internal', 'met an unexpected error; see the server log.']
  return new RunbridgeError(code, `${subject} ${what}`, { cause: thrown })
}
