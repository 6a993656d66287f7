import { createHash } from 'node:crypto'
import { manualClock } from '@runbridge/core/testing'
import { describe, expect, it } from 'vitest'
import { createToken, STATIC_ISSUER, staticTokens } from './static-tokens.js'

const clock = manualClock()

describe('static tokens', () => {
  it('are known by their hash and tell their name', () => {
    const { token, sha256 } = createToken()
    const find = staticTokens([{ name: 'ci', sha256, scopes: ['deploy'] }], clock)
    expect(find(token)).toEqual({
      token,
      clientId: 'ci',
      scopes: ['deploy'],
      expiresAt: Number.POSITIVE_INFINITY,
      extra: { iss: STATIC_ISSUER, sub: 'ci' },
    })
    expect(find(`${token}x`)).toBeUndefined()
    expect(find(sha256)).toBeUndefined()
    expect(find('')).toBeUndefined()
  })

  it('are 256 random bits behind a prefix', () => {
    const { token, sha256 } = createToken()
    expect(token).toMatch(/^runbridge_[A-Za-z0-9_-]{43}$/)
    expect(sha256).toBe(createHash('sha256').update(token).digest('hex'))
    expect(createToken().token).not.toBe(token)
  })

  it('of one name are one caller, so that one can replace another', () => {
    const [first, second] = [createToken(), createToken()]
    const find = staticTokens(
      [first, second].map(({ sha256 }) => ({ name: 'ci', sha256: sha256.toUpperCase() })),
      clock,
    )
    expect(find(first.token)?.extra).toEqual(find(second.token)?.extra)
  })

  it('end when they are told to', () => {
    const { token, sha256 } = createToken()
    const time = manualClock()
    const find = staticTokens([{ name: 'ci', sha256, expiresAt: time.now() + 1000 }], time)
    expect(find(token)?.expiresAt).toBe((time.now() + 1000) / 1000)
    time.jump(1000)
    expect(() => find(token)).toThrow('The token has expired')
  })

  it.each(['', 'abc', 'g'.repeat(64), 'a'.repeat(63)])('refuses %j as a hash', (sha256) => {
    expect(() => staticTokens([{ name: 'ci', sha256 }], clock)).toThrow(
      /The hash of the token ci is no SHA-256/,
    )
  })
})
