import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serveHttp } from '../http.js'
import { AUDIENCE, type Issuer, startIssuer } from '../testing/issuer.js'
import { send, sendLegacy } from '../testing/raw-client.js'
import { type World, type WorldOptions, world } from '../testing/world.js'
import { type BearerAuthOptions, bearerAuth } from './bearer-auth.js'
import { createToken } from './static-tokens.js'

const METADATA = 'https://mcp.test.example/.well-known/oauth-protected-resource/mcp'
const ci = createToken()

let issuer: Issuer
let w: World | undefined
beforeEach(async () => {
  issuer = await startIssuer()
})
afterEach(async () => {
  await w?.close()
  w = undefined
  await issuer.close()
})

function authOptions(options: Partial<BearerAuthOptions> = {}): BearerAuthOptions {
  return {
    jwt: [{ issuer: issuer.issuer, audience: AUDIENCE, cooldownMs: 0 }],
    tokens: [{ name: 'ci', sha256: ci.sha256 }],
    resourceUrl: AUDIENCE,
    ...options,
  }
}

async function open(options: Partial<BearerAuthOptions> = {}, more: WorldOptions = {}): Promise<World> {
  w = await world({ http: { auth: bearerAuth(authOptions(options)) }, ...more })
  return w
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('a request', () => {
  it('with a good token is served as its owner, in every era', async () => {
    const { http, store } = await open()
    const headers = bearer(await issuer.token({ sub: 'ada' }))
    const { result } = await send(http.url, 'tools/call', { name: 'order' }, { tasks: true, headers })
    const owner = JSON.stringify(['subject', issuer.issuer, 'ada'])
    expect(await store.get({ owner, taskId: result.taskId })).toBeDefined()
    expect((await sendLegacy(http.url, 'tools/list', {}, headers)).status).toBe(200)
  })

  it('with a static token is served as its name', async () => {
    const { http, store } = await open()
    const headers = bearer(ci.token)
    const { result } = await send(http.url, 'tools/call', { name: 'order' }, { tasks: true, headers })
    const owner = '["subject","urn:runbridge:token","ci"]'
    expect(await store.get({ owner, taskId: result.taskId })).toBeDefined()
  })

  it('without a token is told where to get one, and no error (RFC 6750, 3.1)', async () => {
    const { http } = await open({
      jwt: [{ issuer: issuer.issuer, audience: AUDIENCE, scopes: ['mcp'] }],
    })
    const { status, headers } = await send(http.url, 'tools/list')
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe(`Bearer scope="mcp", resource_metadata="${METADATA}"`)
  })

  it('without a token, where there is no authorization server, is told no more', async () => {
    const { http } = await open({ jwt: [] })
    const { status, headers } = await send(http.url, 'tools/list')
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })

  it.each<[string, () => Promise<string> | string, string]>([
    ['an expired token', () => issuer.token({ sub: 'ada', expiresIn: -3600 }), 'The token has expired'],
    ['a token for another', () => issuer.token({ sub: 'ada', aud: 'x' }), 'The claim aud of the token'],
    ['a token of nobody we know', () => 'runbridge_unknown', 'The token is not known here'],
    ['the hash of a token', () => ci.sha256, 'The token is not known here'],
  ])('with %s is refused as invalid_token', async (_name, token, description) => {
    const { http, backend } = await open()
    const headers = bearer(await token())
    const answer = await send(http.url, 'tools/call', { name: 'order' }, { tasks: true, headers })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toMatch(
      new RegExp(
        `^Bearer error="invalid_token", error_description="${description}.*", resource_metadata="${METADATA}"$`,
      ),
    )
    expect(answer.answer).toMatchObject({ error: 'invalid_token' })
    expect(backend.executions).toEqual([])
  })

  it.each(['Basic YTpi', 'Bearer', 'Bearer a, Bearer b', 'bearer'])(
    'with the header %j is refused',
    async (authorization) => {
      const { http } = await open()
      const { status } = await send(http.url, 'tools/list', {}, { headers: { authorization } })
      expect(status).toBe(401)
    },
  )

  it('with a token in the query string is not served (2026-07-28 basic/authorization, "Token Requirements")', async () => {
    const { http } = await open()
    expect((await send(`${http.url}?access_token=${ci.token}`, 'tools/list')).status).toBe(401)
  })

  it('whose token lacks a scope that all need is told all of them', async () => {
    const { http } = await open({
      jwt: [{ issuer: issuer.issuer, audience: AUDIENCE, scopes: ['mcp', 'run'] }],
    })
    const headers = bearer(await issuer.token({ sub: 'ada', scope: 'run' }))
    const answer = await send(http.url, 'tools/list', {}, { headers })
    expect(answer.status).toBe(403)
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", error_description="This needs the scope mcp and run", scope="mcp run", resource_metadata="${METADATA}"`,
    )
  })

  it('whose token can not be checked is told to come again, not to get another token', async () => {
    const { http } = await open()
    issuer.broken.set('/jwks', 503)
    const headers = bearer(await issuer.token({ sub: 'ada' }))
    const answer = await send(http.url, 'tools/list', {}, { headers })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(answer.headers.get('www-authenticate')).toBeNull()
    issuer.broken.clear()
    expect((await send(http.url, 'tools/list', {}, { headers })).status).toBe(200)
  })
})

describe('protected resource metadata (RFC 9728)', () => {
  it('names every issuer, the resource as configured and all scopes, for pages of any origin', async () => {
    const { http } = await open({
      jwt: [
        { issuer: issuer.issuer, audience: AUDIENCE, scopes: ['mcp'] },
        { issuer: 'https://second.example', audience: AUDIENCE },
      ],
      toolScopes: ['deploy', 'mcp'],
    })
    for (const path of [
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/oauth-protected-resource',
    ]) {
      const response = await fetch(new URL(path, http.url), { headers: { origin: 'https://page.example' } })
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(await response.json()).toEqual({
        resource: AUDIENCE,
        authorization_servers: [issuer.issuer, 'https://second.example'],
        bearer_methods_supported: ['header'],
        scopes_supported: ['mcp', 'deploy'],
      })
    }
  })

  it('is there for a path before /mcp too', async () => {
    const { http } = await open({ resourceUrl: 'https://mcp.test.example/team/mcp' })
    const url = new URL('/.well-known/oauth-protected-resource/team/mcp', http.url)
    expect(await (await fetch(url)).json()).toMatchObject({ resource: 'https://mcp.test.example/team/mcp' })
  })

  it('is not there without an authorization server', async () => {
    const { http } = await open({ jwt: [] })
    const url = new URL('/.well-known/oauth-protected-resource/mcp', http.url)
    expect((await fetch(url)).status).toBe(404)
  })
})

describe('hosts', () => {
  /** The status line for a request with these headers; fetch does not let one set them. */
  async function raw(url: string, headers: string[]): Promise<string> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(
      ['POST /mcp HTTP/1.1', ...headers, 'content-length: 0', 'connection: close', '', ''].join('\r\n'),
    )
    const [data] = await once(socket, 'data')
    socket.destroy()
    return String(data)
  }

  it('the public one is accepted in Host and Origin, others are not', async () => {
    const { http } = await open()
    const own = ['host: mcp.test.example', 'origin: https://mcp.test.example']
    expect(await raw(http.url, own)).toMatch(/^HTTP\/1.1 401/)
    expect(await raw(http.url, ['host: evil.example'])).toMatch(/^HTTP\/1.1 403/)
    expect(await raw(http.url, ['host: mcp.test.example', 'origin: https://evil.example'])).toMatch(
      /^HTTP\/1.1 403/,
    )
  })

  it('nothing is taken from X-Forwarded-*, which anybody can write', async () => {
    const { http } = await open()
    const forwarded = ['x-forwarded-host: mcp.test.example', 'x-forwarded-proto: https', 'forwarded: host=a']
    expect(await raw(http.url, ['host: evil.example', ...forwarded])).toMatch(/^HTTP\/1.1 403/)
    const lied = await raw(http.url, ['host: localhost', 'x-forwarded-host: evil.example'])
    expect(lied).toContain(`resource_metadata="${METADATA}"`)
  })
})

describe('configuration', () => {
  it.each<[string, BearerAuthOptions, string]>([
    ['nobody', {}, 'admits nobody'],
    [
      'an issuer without a resource',
      { jwt: [{ issuer: 'https://a.example', audience: 'x' }] },
      '`resourceUrl`',
    ],
    [
      'a resource in the clear',
      { jwt: [{ issuer: 'https://a.example', audience: 'x' }], resourceUrl: 'http://mcp.example/mcp' },
      'must start with https',
    ],
    ['no URL', { tokens: [{ name: 'ci', sha256: ci.sha256 }], resourceUrl: 'mcp.example' }, 'is no URL'],
  ])('%s is refused', (_name, options, message) => {
    expect(() => bearerAuth(options)).toThrow(message)
  })

  it('an open bind is refused without authentication, and without a public URL', async () => {
    const { server } = await open()
    const tokens = [{ name: 'ci', sha256: ci.sha256 }]
    await expect(serveHttp({ server, host: '0.0.0.0' })).rejects.toThrow('Nothing authenticates callers')
    await expect(serveHttp({ server, host: '0.0.0.0', auth: bearerAuth({ tokens }) })).rejects.toThrow(
      'auth.resourceUrl',
    )
    const auth = bearerAuth({ tokens, resourceUrl: 'https://mcp.test.example/mcp' })
    const http = await serveHttp({ server, host: '0.0.0.0', auth })
    const url = http.url.replace('0.0.0.0', '127.0.0.1')
    expect((await send(url, 'tools/list')).status).toBe(401)
    expect((await send(url, 'tools/list', {}, { headers: bearer(ci.token) })).status).toBe(200)
    await http.close()
  })

  it('check tells of every issuer whether its keys can be had', async () => {
    const auth = bearerAuth(
      authOptions({
        jwt: [
          { issuer: issuer.issuer, audience: AUDIENCE },
          { issuer: `${issuer.issuer}/nowhere`, audience: AUDIENCE },
        ],
      }),
    )
    const [good, bad] = await auth.check()
    expect(good).toEqual({ issuer: issuer.issuer, outcome: 1 })
    expect(bad?.outcome).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/nowhere\/\.well-known\/openid-configuration answers 404/),
    })
  })
})

describe('scopes of a tool', () => {
  const tools: WorldOptions['tools'] = [
    { name: 'order' },
    { name: 'deploy', scopes: ['deploy', 'prod'], humanInput: 'model' },
  ]

  it('missing, the call is challenged with all of them and nothing starts', async () => {
    const { http, backend } = await open({}, { tools, http: { auth: bearerAuth(authOptions()) } })
    const headers = bearer(await issuer.token({ sub: 'ada', scope: 'deploy' }))
    const challenge = `Bearer error="insufficient_scope", error_description="This needs the scope deploy and prod", scope="deploy prod", resource_metadata="${METADATA}"`
    for (const answer of [
      await send(http.url, 'tools/call', { name: 'deploy' }, { tasks: true, headers }),
      await send(http.url, 'tools/call', { name: 'deploy' }, { headers }),
      await sendLegacy(http.url, 'tools/call', { name: 'deploy', arguments: {} }, headers),
    ]) {
      expect(answer.status).toBe(403)
      expect(answer.headers.get('www-authenticate')).toBe(challenge)
    }
    expect(backend.executions).toEqual([])
    const listed = await send(http.url, 'tools/list', {}, { tasks: true, headers })
    expect(listed.result.tools).toHaveLength(2)
    const { result } = await send(http.url, 'tools/call', { name: 'order' }, { tasks: true, headers })
    expect(result.resultType).toBe('task')
  })

  it('a header that names another tool than the body gets nobody around it', async () => {
    const { http, backend } = await open({}, { tools, http: { auth: bearerAuth(authOptions()) } })
    const headers = { ...bearer(await issuer.token({ sub: 'ada' })), 'mcp-name': 'order' }
    const answer = await send(http.url, 'tools/call', { name: 'deploy' }, { tasks: true, headers })
    expect(answer.status).toBe(400)
    expect(backend.executions).toEqual([])
  })

  it('are asked of whoever answers, not of whoever looks or stops', async () => {
    const { http, run, set, backend } = await open({}, { tools, http: { auth: bearerAuth(authOptions()) } })
    const full = bearer(await issuer.token({ sub: 'ada', scope: 'deploy prod' }))
    const bare = bearer(await issuer.token({ sub: 'ada' }))
    const sent = { tasks: true, elicitation: true }
    const { result } = await send(http.url, 'tools/call', { name: 'deploy' }, { ...sent, headers: full })
    const started = await run()
    await set(started, () => backend.openGate(started.runKey, { id: 'a' }))
    const { taskId } = result
    const asked = await send(http.url, 'tasks/get', { taskId }, { ...sent, headers: full })
    expect(asked.result.status).toBe('input_required')
    const seen = await send(http.url, 'tasks/get', { taskId }, { ...sent, headers: bare })
    expect(seen.result.status).toBe('working')

    const [key = ''] = Object.keys(asked.result.inputRequests)
    const inputResponses = { [key]: { action: 'accept', content: { approve: true } } }
    await send(http.url, 'tasks/update', { taskId, inputResponses }, { ...sent, headers: bare })
    const answer = {
      name: 'task_answer',
      arguments: { taskId, key, action: 'accept', content: { approve: true } },
    }
    const refused = await send(http.url, 'tools/call', answer, { headers: bare })
    expect(refused.result.content[0].text).toContain('needs a token with the scope deploy and prod')
    expect(started.answers.size).toBe(0)

    await send(http.url, 'tasks/update', { taskId, inputResponses }, { ...sent, headers: full })
    expect(started.answers.size).toBe(1)
    await send(http.url, 'tasks/cancel', { taskId }, { ...sent, headers: bare })
    expect(started.cancels).toHaveLength(1)
  })
})
