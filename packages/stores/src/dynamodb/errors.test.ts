import { RunbridgeError } from '@runbridge/core'
import { expect, it } from 'vitest'
import { isRefusedCondition, storeError } from './errors.js'

const named = (name: string, message = 'a detail of 123456789012', more: object = {}) =>
  Object.assign(new Error(message), { name }, more)

it.each([
  [named('ResourceNotFoundException'), 'misconfigured'],
  [named('AccessDeniedException'), 'misconfigured'],
  [named('UnrecognizedClientException'), 'unauthenticated'],
  [named('ExpiredTokenException'), 'unauthenticated'],
  [named('CredentialsProviderError'), 'unauthenticated'],
  [named('ProvisionedThroughputExceededException'), 'unavailable'],
  [named('ThrottlingException'), 'unavailable'],
  [named('InternalServerError'), 'unavailable'],
  [named('TimeoutError'), 'unavailable'],
  [named('Error', 'connect', { code: 'ECONNREFUSED' }), 'unavailable'],
  [named('Unknown', 'x', { $metadata: { httpStatusCode: 503 } }), 'unavailable'],
  [named('ValidationException', 'Item size has exceeded the maximum allowed size'), 'too_large'],
  [
    named(
      'ValidationException',
      'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes',
    ),
    'too_large',
  ],
  [named('ValidationException', 'The provided key element does not match the schema'), 'misconfigured'],
  [named('ValidationException', 'The table does not have the specified index: due'), 'misconfigured'],
  [named('ValidationException', 'ExpressionAttributeValues must not be empty'), 'internal'],
  [named('toString'), 'internal'],
  [new TypeError('x'), 'internal'],
  [undefined, 'internal'],
])('takes %s for %s', (cause, code) => {
  const error = storeError(cause, 'The task store')
  expect(error).toMatchObject({ code, message: expect.stringMatching(/^The task store .+\.$/) })
  expect(error.message).not.toContain('123456789012')
})

it('leaves its own errors alone, and tells a condition that did not hold', () => {
  const own = new RunbridgeError('invalid_input', 'x')
  expect(storeError(own, 'The task store')).toBe(own)
  expect(isRefusedCondition(named('ConditionalCheckFailedException'))).toBe(true)
  expect(isRefusedCondition(named('ValidationException'))).toBe(false)
})
