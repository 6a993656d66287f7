import { describe, expect, it } from 'vitest'
import { clientFailure, httpFailure } from './engine-failure.js'
import { engineError } from './errors.js'

const request = { permission: 'workflows.executions.create', resource: 'projects/p/locations/l/workflows/w' }
const body = (status: string, message = '', details: object[] = []) =>
  JSON.stringify({ error: { code: 400, status, message, details } })

describe('an answer of HTTP', () => {
  it('counts as Google’s word only in Google’s own form', () => {
    expect(httpFailure(404, body('NOT_FOUND')).status).toBe('NOT_FOUND')
    expect(httpFailure(404, '<html>404</html>').status).toBe('NO_ANSWER')
    expect(httpFailure(400, '{"error":"no"}').status).toBe('NO_ANSWER')
    expect(httpFailure(409, body('SOMETHING_NEW')).status).toBe('NO_ANSWER')
    expect(httpFailure(502, '').status).toBe('NO_ANSWER')
  })

  it('of a proxy may stand for an answer of Google that it did not let through, but for its limit', () => {
    for (const status of [401, 403, 407]) {
      expect(httpFailure(status, '<html>blocked</html>')).toMatchObject({
        status: 'NO_ANSWER',
        why: `HTTP ${status}`,
      })
    }
    expect(httpFailure(429, '').status).toBe('RESOURCE_EXHAUSTED')
  })

  it('names the permission, by its details or its words', () => {
    const details = [
      { reason: 'IAM_PERMISSION_DENIED', metadata: { permission: 'workflows.callbacks.send' } },
    ]
    expect(httpFailure(403, body('PERMISSION_DENIED', '', details)).permission).toBe(
      'workflows.callbacks.send',
    )
    const said = "Permission 'workflows.executions.get' denied on resource 'x' (or it may not exist)."
    expect(httpFailure(403, body('PERMISSION_DENIED', said)).permission).toBe('workflows.executions.get')
  })
})

describe('what the client throws', () => {
  it('is told by its gRPC code, else by its HTTP answer, else it is no answer', () => {
    expect(clientFailure({ code: 5, message: '5 NOT_FOUND: gone' })).toMatchObject({
      status: 'NOT_FOUND',
      said: 'gone',
    })
    expect(
      clientFailure({ code: 403, message: body('PERMISSION_DENIED'), response: { status: 403 } }).status,
    ).toBe('PERMISSION_DENIED')
    expect(clientFailure({ code: 'ECONNRESET' })).toMatchObject({ status: 'NO_ANSWER', why: 'ECONNRESET' })
    for (const thrown of [undefined, null, 'x', new Error('?'), { code: 0 }, { code: 77 }]) {
      expect(clientFailure(thrown).status).toBe('NO_ANSWER')
    }
  })

  it('is not taken for Google’s word where the library made it up for an answer of HTTP', () => {
    const made = { code: 7, message: '7 PERMISSION_DENIED: Received HTTP status code 403' }
    expect(clientFailure(made)).toMatchObject({ status: 'NO_ANSWER', why: 'HTTP 403' })
  })

  it('is never passed on with what was sent', () => {
    const secret = 'https://workflowexecutions.googleapis.com/v1/x/callbacks/secret'
    const failure = clientFailure({
      code: 'ECONNRESET',
      message: `request to ${secret} failed`,
      config: { url: secret },
    })
    const error = engineError(failure, request)
    expect(JSON.stringify([failure, failure.message, error, error.message, error.cause ?? ''])).not.toContain(
      'secret',
    )
  })
})

describe('messages', () => {
  it('say what to do', () => {
    const denied = httpFailure(403, body('PERMISSION_DENIED', '', [{ reason: 'SERVICE_DISABLED' }]))
    expect(engineError(denied, request).message).toContain('enable Workflows and Workflow Executions')
    const invalid = httpFailure(400, body('INVALID_ARGUMENT', 'argument is not JSON'))
    expect(engineError(invalid, request)).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('"argument is not JSON"'),
    })
  })
})
