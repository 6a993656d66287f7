import { describe, expect, it } from 'vitest'
import { runError, TEXT_LIMIT_BYTES } from './failure.js'

describe('a failure', () => {
  const of = (payload: string, error: object = {}) => runError({ error: { payload, ...error } })

  it('has the name that Google gave it, or the workflow', () => {
    expect(of('{"tags":["TypeError"],"message":"m"}').code).toBe('TypeError')
    expect(of('{"code":7,"message":"m"}').code).toBe('7')
    expect(of('{"code":"Boom"}').code).toBe('Boom')
    expect(of('{"tags":[],"message":"m"}').code).toBe('FAILED')
    expect(of('"just text"')).toEqual({ code: 'FAILED', message: 'just text' })
    expect(of('no JSON')).toEqual({ code: 'FAILED', message: 'no JSON' })
    expect(runError({})).toEqual({ code: 'FAILED', message: '' })
  })

  it('names the innermost step', () => {
    const elements = [
      { routine: 'charge', step: 'call' },
      { routine: 'main', step: 'pay' },
    ]
    expect(of('"x"', { stackTrace: { elements } }).step).toBe('charge.call')
  })

  it('is cut where it is long', () => {
    const { message, detail } = of(JSON.stringify({ message: 'x'.repeat(9000) }), {
      context: 'y'.repeat(9000),
    })
    expect(message.length).toBeLessThanOrEqual(TEXT_LIMIT_BYTES)
    expect(message).toContain('[cut:')
    expect(detail?.length).toBeLessThanOrEqual(2 * TEXT_LIMIT_BYTES + 2)
  })
})
