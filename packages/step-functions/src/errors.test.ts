import * as sdk from '@aws-sdk/client-sfn'
import { describe, expect, it } from 'vitest'
import { deniedPermission, didNothing, ERROR_TABLE, engineError } from './errors.js'
import { awsError, networkError } from './testing/scripted-clients.js'

const request = { action: 'states:StartExecution', resource: 'arn:aws:states:r:1:stateMachine:x' }

describe('the table', () => {
  it('has every error that the SDK models', () => {
    const modeled = Object.entries(sdk)
      .filter(
        ([, value]) => typeof value === 'function' && value.prototype instanceof sdk.SFNServiceException,
      )
      .map(([name]) => name)
    expect(modeled.length).toBeGreaterThan(20)
    expect(Object.keys(ERROR_TABLE)).toEqual(expect.arrayContaining(modeled))
  })
  it.each([
    ['AccessDeniedException', 'denied'],
    ['ExpiredTokenException', 'unauthenticated'],
    ['ThrottlingException', 'throttled'],
    ['ServiceUnavailable', 'unavailable'],
    ['StateMachineDoesNotExist', 'workflow_not_found'],
  ])('%s is %s', (name, code) => {
    expect(engineError(awsError(name), request).code).toBe(code)
  })
  it.each([
    [awsError('Odd', '', 403), 'denied'],
    [awsError('Odd', '', 401), 'denied'],
    [awsError('Odd', '', 429), 'throttled'],
    [awsError('Odd', '', 400), 'unavailable'],
    [awsError('toString', '', 500), 'unavailable'],
    [networkError('ENOTFOUND'), 'unavailable'],
    ['a text', 'unavailable'],
    [undefined, 'unavailable'],
    [null, 'unavailable'],
  ])('what it does not have is read from the status: %s', (thrown, code) => {
    expect(engineError(thrown, request).code).toBe(code)
  })
})

describe('messages', () => {
  it('name the permission that is missing, as AWS does', () => {
    const message =
      'User: arn:aws:sts::123456789012:assumed-role/app/session is not authorized to perform: states:DescribeExecution on resource: arn:aws:states:us-east-1:123456789012:execution:deploy:rb-1 because no identity-based policy allows the states:DescribeExecution action'
    const error = engineError(awsError('AccessDeniedException', message), request)
    expect(error.message).toBe(
      'AWS does not allow states:DescribeExecution on arn:aws:states:us-east-1:123456789012:execution:deploy:rb-1; allow it to the role or user that asked.',
    )
  })
  it('name what was asked for where AWS does not', () => {
    const error = engineError(awsError('AccessDeniedException', 'no'), request)
    expect(error.message).toContain('states:StartExecution on arn:aws:states:r:1:stateMachine:x')
  })
  it('pass nothing else of what AWS says on', () => {
    for (const name of [...Object.keys(ERROR_TABLE), 'Odd', 'CredentialsProviderError', 'AbortError']) {
      const error = engineError(awsError(name, 'secret-token is not authorized to perform: nothing'), request)
      expect(error.message, name).not.toContain('secret-token')
      expect(error.message).not.toContain('undefined')
      expect(error.message.length).toBeGreaterThan(20)
    }
  })
  it('take only what has the form of a permission', () => {
    expect(deniedPermission('x is not authorized to perform: states:StopExecution')).toEqual({
      action: 'states:StopExecution',
      resource: 'this resource',
    })
    expect(deniedPermission('is not authorized to perform: <script>')).toBeUndefined()
  })
  it('say how the connection failed', () => {
    expect(engineError(networkError('ECONNRESET'), request).message).toContain('(ECONNRESET)')
    expect(engineError(awsError('Odd', '', 502), request).message).toContain('(HTTP 502)')
  })
})

describe('didNothing', () => {
  it.each([
    ['a known refusal', awsError('ThrottlingException'), true],
    ['one in a later attempt', awsError('ThrottlingException', '', 400, 2), false],
    ['a known name with a 5xx', awsError('ThrottlingException', '', 503), false],
    ['an unknown name', awsError('Odd'), false],
    ['an inherited name', awsError('constructor'), false],
    ['no answer', networkError('ECONNRESET'), false],
    ['no credentials', Object.assign(new Error(), { name: 'CredentialsProviderError' }), true],
    ['nothing', undefined, false],
  ])('%s', (_, thrown, expected) => {
    expect(didNothing(thrown)).toBe(expected)
  })
})
