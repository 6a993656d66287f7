import { generateKeyPair, SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AUDIENCE, type Claims, type Issuer, startIssuer } from '../testing/issuer.js'
import { type JwtIssuer, jwtVerifier } from './jwt.js'

let issuer: Issuer
beforeEach(async () => {
  issuer = await startIssuer('/tenant')
})
afterEach(() => issuer.close())

const accepting = (options: Partial<JwtIssuer> = {}) =>
  jwtVerifier([{ issuer: issuer.issuer, audience: AUDIENCE, cooldownMs: 0, ...options }])

const HOUR = 3600

describe('a token that counts', () => {
  it('tells issuer, subject, client, scopes and when it ends', async () => {
    const exp = Math.floor(Date.now() / 1000) + HOUR
    const token = await issuer.token({ sub: 'ada', client_id: 'app', scope: 'run deploy', exp })
    expect(await accepting().verify(token)).toEqual({
      token,
      clientId: 'app',
      scopes: ['run', 'deploy'],
      expiresAt: exp + 30,
      extra: { iss: issuer.issuer, sub: 'ada' },
    })
  })

  it.each<[string, Claims, object]>([
    ['an audience among several', { sub: 'ada', aud: ['https://other.example', AUDIENCE] }, {}],
    ['scopes in an array', { sub: 'ada', scp: ['run', 'deploy'] }, { scopes: ['run', 'deploy'] }],
    ['a client without a subject', { azp: 'job' }, { clientId: 'job', extra: { iss: expect.any(String) } }],
    ['an empty subject, which is none', { sub: '', client_id: 'job' }, { clientId: 'job' }],
    ['one that expired less than the tolerance ago', { sub: 'ada', expiresIn: -20 }, {}],
  ])('%s', async (_name, claims, expected) => {
    const info = await accepting().verify(await issuer.token(claims))
    expect(info).toMatchObject(expected)
  })

  it.each(['JWT', 'at+jwt', 'application/AT+JWT'])('of the type %s', async (typ) => {
    await expect(accepting().verify(await issuer.token({ sub: 'ada' }, { typ }))).resolves.toBeDefined()
  })
})

describe('a token that does not count', () => {
  it.each<[string, Claims, string]>([
    ['another audience', { sub: 'ada', aud: 'https://other.example' }, 'The claim aud'],
    ['no audience', { sub: 'ada', aud: undefined as never }, 'The claim aud'],
    ['expired', { sub: 'ada', expiresIn: -HOUR }, 'has expired'],
    ['without an end', { sub: 'ada', exp: undefined }, 'The claim exp'],
    ['not yet', { sub: 'ada', nbf: Math.floor(Date.now() / 1000) + HOUR }, 'The claim nbf'],
    ['another issuer', { sub: 'ada', iss: 'https://evil.example' }, 'an issuer that is not accepted'],
    ['an issuer with a slash more', { sub: 'ada', iss: 'http://127.0.0.1/tenant/' }, 'not accepted'],
    ['nobody', {}, 'names neither a subject nor a client'],
    ['a number for a subject', { sub: 7 as never, client_id: 'app' }, 'is no text'],
    ['null for a subject', { sub: null as never, client_id: 'app' }, 'is no text'],
    ['a subject longer than OpenID allows', { sub: 'a'.repeat(256) }, 'too long'],
  ])('%s', async (_name, claims, message) => {
    await expect(accepting().verify(await issuer.token(claims))).rejects.toMatchObject({
      code: 'invalid_token',
      message: expect.stringContaining(message),
    })
  })

  it('of another type, such as a logout token', async () => {
    const token = await issuer.token({ sub: 'ada' }, { typ: 'logout+jwt' })
    await expect(accepting().verify(token)).rejects.toMatchObject({ message: 'The token is no access token' })
  })

  it('signed by somebody else under a known key id', async () => {
    const { privateKey } = await generateKeyPair('ES256')
    const token = await new SignJWT({ iss: issuer.issuer, aud: AUDIENCE, sub: 'ada' })
      .setProtectedHeader({ alg: 'ES256', kid: 'key-1' })
      .setExpirationTime('1h')
      .sign(privateKey)
    await expect(accepting().verify(token)).rejects.toMatchObject({
      code: 'invalid_token',
      message: 'The signature of the token does not fit',
    })
  })

  it('changed after it was signed', async () => {
    const [head, , signature] = (await issuer.token({ sub: 'ada' })).split('.')
    const [, forged] = (await issuer.token({ sub: 'grace' })).split('.')
    await expect(accepting().verify(`${head}.${forged}.${signature}`)).rejects.toMatchObject({
      message: 'The signature of the token does not fit',
    })
  })

  it('unsigned', async () => {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const claims = { iss: issuer.issuer, aud: AUDIENCE, sub: 'ada', exp: 9999999999 }
    const token = `${encode({ alg: 'none' })}.${encode(claims)}.`
    await expect(accepting().verify(token)).rejects.toMatchObject({ code: 'invalid_token' })
    expect(issuer.asked).not.toContain('/tenant/jwks')
  })

  it('signed with a shared secret, whatever it is', async () => {
    const token = await new SignJWT({ iss: issuer.issuer, aud: AUDIENCE, sub: 'ada' })
      .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode('public key as a secret, padded to be long enough'))
    await expect(accepting().verify(token)).rejects.toMatchObject({
      message: 'The token is signed with an algorithm that is not accepted here',
    })
  })

  it('signed with an algorithm outside of those chosen', async () => {
    const verifier = accepting({ algorithms: ['RS256'] })
    await expect(verifier.verify(await issuer.token({ sub: 'ada' }))).rejects.toMatchObject({
      message: 'The token is signed with an algorithm that is not accepted here',
    })
  })

  it.each(['', 'x', 'a.b', 'a.b.c', '...'])('that is none: %j', async (token) => {
    await expect(accepting().verify(token)).rejects.toMatchObject({ code: 'invalid_token' })
    expect(issuer.asked).toEqual([])
  })

  it('without the scopes that its issuer’s tokens need, all named at once', async () => {
    const verifier = accepting({ scopes: ['run', 'mcp'] })
    await expect(verifier.verify(await issuer.token({ sub: 'ada', scope: 'run' }))).rejects.toMatchObject({
      code: 'insufficient_scope',
      scopes: ['run', 'mcp'],
    })
    const good = await issuer.token({ sub: 'ada', scope: 'mcp other run' })
    await expect(verifier.verify(good)).resolves.toBeDefined()
  })
})

describe('keys', () => {
  it('a rotated key counts with its first token, a withdrawn one no more', async () => {
    const verifier = accepting()
    const old = await issuer.token({ sub: 'ada' })
    await verifier.verify(old)
    await issuer.rotate({ keepOld: true })
    await expect(verifier.verify(await issuer.token({ sub: 'ada' }))).resolves.toBeDefined()
    await expect(verifier.verify(old)).resolves.toBeDefined()
    await issuer.rotate()
    await expect(verifier.verify(await issuer.token({ sub: 'ada' }))).resolves.toBeDefined()
    await expect(verifier.verify(old)).rejects.toMatchObject({
      message: 'The token is signed with a key that its issuer does not publish',
    })
  })

  it('are fetched once for many tokens', async () => {
    const verifier = accepting()
    const tokens = await Promise.all(['a', 'b', 'c'].map((sub) => issuer.token({ sub })))
    await Promise.all(tokens.map((token) => verifier.verify(token)))
    for (const token of tokens) await verifier.verify(token)
    expect(issuer.asked).toEqual(['/tenant/.well-known/openid-configuration', '/tenant/jwks'])
  })

  it('unknown ones do not make us ask the issuer again and again', async () => {
    const verifier = accepting({ cooldownMs: 30_000 })
    await verifier.verify(await issuer.token({ sub: 'ada' }))
    for (const kid of ['x', 'y', 'z']) {
      await expect(verifier.verify(await issuer.token({ sub: 'ada' }, { kid }))).rejects.toMatchObject({
        code: 'invalid_token',
      })
    }
    expect(issuer.asked).toHaveLength(2)
  })

  it('that can not be fetched say nothing of the token, and are fetched for the next', async () => {
    const verifier = accepting()
    const token = await issuer.token({ sub: 'ada' })
    for (const path of ['/tenant/.well-known/openid-configuration', '/tenant/jwks']) {
      issuer.broken.set(path, 503)
      await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'unavailable' })
      issuer.broken.clear()
    }
    await expect(verifier.verify(token)).resolves.toBeDefined()
  })

  it('are not asked for by every token while the issuer is down', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const verifier = accepting({ cooldownMs: 30_000 })
      const token = await issuer.token({ sub: 'ada' })
      issuer.broken.set('/tenant/.well-known/openid-configuration', 503)
      for (let sent = 0; sent < 5; sent += 1)
        await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'unavailable' })
      expect(issuer.asked).toHaveLength(2)
      issuer.broken.clear()
      vi.setSystemTime(Date.now() + 1_000)
      await expect(verifier.verify(token)).resolves.toBeDefined()
    } finally {
      vi.useRealTimers()
    }
  })

  it('kept ones go on counting while the issuer is down; an unknown one can not be told', async () => {
    const verifier = accepting()
    await verifier.verify(await issuer.token({ sub: 'ada' }))
    issuer.broken.set('/tenant/jwks', 503)
    await expect(verifier.verify(await issuer.token({ sub: 'ada' }))).resolves.toBeDefined()
    await issuer.rotate()
    await expect(verifier.verify(await issuer.token({ sub: 'ada' }))).rejects.toMatchObject({
      code: 'unavailable',
    })
  })

  it('kept ones are asked for again after ten minutes, and count for an hour while nobody answers', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const verifier = accepting({ cooldownMs: 30_000 })
      const token = await issuer.token({ sub: 'ada', expiresIn: 3 * HOUR })
      await verifier.verify(token)
      const later = (minutes: number) => vi.setSystemTime(Date.now() + minutes * 60_000)
      issuer.broken.set('/tenant/jwks', 503)
      later(11)
      await expect(verifier.verify(token)).resolves.toBeDefined()
      expect(issuer.asked.filter((path) => path === '/tenant/jwks')).toHaveLength(2)
      later(50)
      await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'unavailable' })
      issuer.broken.clear()
      later(1)
      await expect(verifier.verify(token)).resolves.toBeDefined()
      await issuer.rotate()
      await expect(verifier.verify(token)).resolves.toBeDefined()
      later(11)
      await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'invalid_token' })
    } finally {
      vi.useRealTimers()
    }
  })

  it('are taken from where the configuration says', async () => {
    const verifier = accepting({ jwksUri: `${issuer.issuer}/jwks` })
    await verifier.verify(await issuer.token({ sub: 'ada' }))
    expect(issuer.asked).toEqual(['/tenant/jwks'])
  })

  it('of metadata that names another issuer are not taken', async () => {
    const verifier = jwtVerifier([{ issuer: `${issuer.issuer}/`, audience: AUDIENCE }])
    const token = await issuer.token({ sub: 'ada', iss: `${issuer.issuer}/` })
    await expect(verifier.verify(token)).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringContaining('write the issuer exactly as it names itself'),
    })
  })
})

describe('several issuers', () => {
  it('each vouches for its own tokens alone', async () => {
    const other = await startIssuer('/other')
    try {
      const verifier = jwtVerifier([
        { issuer: issuer.issuer, audience: AUDIENCE },
        { issuer: other.issuer, audience: AUDIENCE },
      ])
      const own = await verifier.verify(await other.token({ sub: 'ada' }))
      expect(own.extra).toEqual({ iss: other.issuer, sub: 'ada' })
      const posing = await other.token({ sub: 'ada', iss: issuer.issuer })
      await expect(verifier.verify(posing)).rejects.toMatchObject({
        message: 'The signature of the token does not fit',
      })
    } finally {
      await other.close()
    }
  })

  it.each([
    [['http://login.example'], 'must be https'],
    [['ftp://login.example'], 'must be https'],
    [['https://a.example', 'https://a.example'], 'named twice'],
  ])('%j are refused at configuration', (issuers, message) => {
    const options = issuers.map((each) => ({ issuer: each, audience: AUDIENCE }))
    expect(() => jwtVerifier(options)).toThrow(message)
  })
})
