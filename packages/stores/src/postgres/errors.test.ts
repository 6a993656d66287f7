import { RunbridgeError } from '@runbridge/core'
import { expect, it } from 'vitest'
import { isPassing, storeError } from './errors.js'

const coded = (code: string) => Object.assign(new Error('a detail of db.internal'), { code })

it.each([
  ['08006', 'unavailable', true],
  ['08P01', 'misconfigured', false],
  ['25006', 'unavailable', true],
  ['28P01', 'misconfigured', false],
  ['28000', 'misconfigured', false],
  ['3D000', 'misconfigured', false],
  ['3F000', 'misconfigured', false],
  ['40001', 'unavailable', true],
  ['40P01', 'unavailable', true],
  ['42501', 'misconfigured', false],
  ['42P01', 'misconfigured', false],
  ['53300', 'unavailable', true],
  ['54000', 'too_large', false],
  ['57P01', 'unavailable', true],
  ['57P03', 'unavailable', true],
  ['XX001', 'unavailable', false],
  ['ECONNREFUSED', 'unavailable', true],
  ['ECONNRESET', 'unavailable', true],
  ['EAI_AGAIN', 'unavailable', true],
  ['ENOTFOUND', 'misconfigured', false],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'misconfigured', false],
  ['22P02', 'internal', false],
  ['42601', 'internal', false],
])('takes %s for %s', (postgres, code, passing) => {
  const cause = coded(postgres)
  const error = storeError(cause, 'The task store')
  expect(error).toMatchObject({ code, cause, message: expect.stringMatching(/^The task store .+\.$/) })
  expect(error.message).not.toContain('db.internal')
  expect(isPassing(cause)).toBe(passing)
})

it.each([
  ['Connection terminated unexpectedly', 'unavailable'],
  ['timeout exceeded when trying to connect', 'unavailable'],
  ['Query read timeout', 'unavailable'],
  ['Client has encountered a connection error and is not queryable', 'unavailable'],
  ['The server does not support SSL connections', 'misconfigured'],
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'misconfigured'],
  ['x is not a function', 'internal'],
])('takes “%s” of pg for %s', (message, code) => {
  expect(storeError(new Error(message), 'The task store').code).toBe(code)
})

it('looks into the failures of several addresses', () => {
  const thrown = new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')])
  expect(storeError(thrown, 'The task store').code).toBe('unavailable')
})

it('takes anything else for a defect, and leaves its own errors alone', () => {
  for (const thrown of [new TypeError('x'), 'x', undefined, { code: 5 }]) {
    expect(storeError(thrown, 'The task store').code).toBe('internal')
    expect(isPassing(thrown)).toBe(false)
  }
  const own = new RunbridgeError('invalid_input', 'x')
  expect(storeError(own, 'The task store')).toBe(own)
})
