import type { AuthInfo } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ownerOf } from './owner.js'

const info = (extra: Record<string, unknown>, clientId = 'app'): AuthInfo => ({
  token: 't',
  clientId,
  scopes: [],
  extra,
})

describe('the owner', () => {
  it.each<[string, AuthInfo | undefined, string]>([
    ['nobody to authenticate', undefined, 'local'],
    ['issuer and subject', info({ iss: 'https://a', sub: 'ada' }), '["subject","https://a","ada"]'],
    [
      'the subject from another client',
      info({ iss: 'https://a', sub: 'ada' }, 'cli'),
      '["subject","https://a","ada"]',
    ],
    [
      'the subject of another issuer',
      info({ iss: 'https://b', sub: 'ada' }),
      '["subject","https://b","ada"]',
    ],
    ['a client without a subject', info({ iss: 'https://a' }), '["client","https://a","app"]'],
    ['an empty subject, which is none', info({ iss: 'https://a', sub: '' }), '["client","https://a","app"]'],
    [
      'a client with the name of a subject',
      info({ iss: 'https://a' }, 'ada'),
      '["client","https://a","ada"]',
    ],
    [
      'account and role of IAM',
      info({ iam: { accountId: '123456789012', roleId: 'AROAEXAMPLE' } }),
      '["iam","123456789012","AROAEXAMPLE"]',
    ],
  ])('%s', (_name, authInfo, expected) => {
    expect(ownerOf(authInfo)).toBe(expected)
  })

  it.each<[string, AuthInfo]>([
    ['neither subject nor client', info({ iss: 'https://a' }, '')],
    ['a subject that is no text', info({ iss: 'https://a', sub: 7 })],
    ['an IAM caller without a role', info({ iam: { accountId: '123456789012' } })],
    ['an IAM caller without an account', info({ iam: { accountId: '', roleId: 'AROAEXAMPLE' } })],
  ])('of %s is refused, since all such callers would be one', (_name, authInfo) => {
    expect(() => ownerOf(authInfo)).toThrow('This caller can not be told from others')
  })

  it('no two identities share one', () => {
    const part = fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom('a', '"', ',', '[', '\\') })
    const identity = fc.tuple(fc.constantFrom('sub', 'client', 'iam'), part, part)
    const owner = ([kind, within, name]: [string, string, string]) => {
      if (kind === 'iam') return ownerOf(info({ iam: { accountId: within, roleId: name } }))
      return kind === 'sub' ? ownerOf(info({ iss: within, sub: name })) : ownerOf(info({ iss: within }, name))
    }
    fc.assert(
      fc.property(identity, identity, (a, b) => {
        expect(owner(a) === owner(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
      }),
    )
  })
})
