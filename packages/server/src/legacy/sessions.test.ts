import { RunbridgeError } from '@runbridge/core'
import { afterEach, describe, expect, it } from 'vitest'
import { bearerAuth } from '../auth/bearer-auth.js'
import { createToken } from '../auth/static-tokens.js'
import { createServer } from '../create-server.js'
import { serveHttp } from '../http.js'
import { httpLegacy, type LegacyClient } from '../testing/legacy-client.js'
import { until, type World, type WorldOptions, world } from '../testing/world.js'
import { callers } from './testing/callers.js'

let w: World
const ends: (() => Promise<unknown>)[] = []
const open = async (options?: WorldOptions) => {
  w = await world(options)
  ends.push(() => w.close())
}
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const raw = (method: string, headers: Record<string, string>, body?: object) =>
  fetch(w.http.url, {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const inSession = (id: string, more: Record<string, string> = {}) => ({ 'mcp-session-id': id, ...more })

describe('a session', () => {
  it('is created only by initialize, under an id of visible ASCII that nobody can guess', async () => {
    await open()
    const client = await httpLegacy(w.http.url)
    expect(client.sessionId).toMatch(/^ses_[\w-]{32}$/)
    expect(client.hello.protocolVersion).toBe('2025-11-25')
    expect((await client.ask('ping')).result).toEqual({})
    for (const body of [ping, { ...ping, method: 'tools/list' }]) {
      expect((await raw('POST', {}, body)).headers.get('mcp-session-id')).toBeNull()
    }
    expect((await raw('POST', {}, { ...ping, method: 'initialize', params: {} })).status).toBe(400)
  })

  it.each(['2025-06-18', '2025-03-26', '2024-11-05'])('of %s has no tasks', async (version) => {
    await open()
    const client = await httpLegacy(w.http.url, { version })
    expect(client.hello).toMatchObject({ protocolVersion: version, capabilities: { tools: {} } })
    expect(client.hello.capabilities).not.toHaveProperty('tasks')
    const { result } = await client.ask('tools/list')
    expect(result.tools[0]).not.toHaveProperty('execution')
  })

  it('of a revision that nobody knows is answered with the latest', async () => {
    await open()
    expect((await httpLegacy(w.http.url, { version: '1999-01-01' })).hello.protocolVersion).toBe('2025-11-25')
  })

  it('goes on after a cancel that names no request', async () => {
    await open()
    const { sessionId = '' } = await httpLegacy(w.http.url)
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled' }
    expect((await raw('POST', inSession(sessionId), cancel)).status).toBe(202)
    expect((await raw('POST', inSession(sessionId), ping)).status).toBe(200)
  })

  it('an ended session is 404, and one that never was', async () => {
    await open()
    const client = await httpLegacy(w.http.url)
    const id = client.sessionId as string
    expect((await raw('DELETE', inSession(id))).status).toBe(204)
    for (const [method, body] of [['POST', ping], ['GET'], ['DELETE']] as const) {
      expect((await raw(method, inSession(id), body)).status).toBe(404)
      expect((await raw(method, inSession('ses_unknown'), body)).status).toBe(404)
    }
    expect(await w.store.sessions.get(id)).toBeUndefined()
  })

  it('a bad protocol version header is 400', async () => {
    await open()
    const { sessionId = '' } = await httpLegacy(w.http.url)
    for (const [method, body] of [['POST', ping], ['GET'], ['DELETE']] as const) {
      const response = await raw(method, inSession(sessionId, { 'mcp-protocol-version': '1999-01-01' }), body)
      expect(response.status).toBe(400)
    }
    expect((await raw('POST', inSession(sessionId), ping)).status).toBe(200)
  })

  it('is bound to the caller that made it', async () => {
    const { auth, tokens } = callers('alice', 'bob')
    await open({ http: { auth } })
    const { sessionId = '' } = await httpLegacy(w.http.url, { token: tokens.alice as string })
    const as = (token: string) => inSession(sessionId, { authorization: `Bearer ${token}` })
    for (const [method, body] of [['POST', ping], ['GET'], ['DELETE']] as const)
      expect((await raw(method, as(tokens.bob as string), body)).status).toBe(404)
    expect((await raw('POST', as(tokens.alice as string), ping)).status).toBe(200)
  })

  it('tells no question to a token that may not answer it', async () => {
    const [strong, weak] = [createToken(), createToken()]
    const auth = bearerAuth({
      tokens: [
        { name: 'ada', sha256: strong.sha256, scopes: ['deploy'] },
        { name: 'ada', sha256: weak.sha256 },
      ],
    })
    const tools = [{ name: 'order', humanInput: 'elicitation' as const, scopes: ['deploy'] }]
    await open({ tools, http: { auth } })
    const capabilities = { elicitation: {} }
    const client = await httpLegacy(w.http.url, { token: strong.token, capabilities })
    await client.ask('tools/call', { name: 'order', arguments: {}, task: {} })
    const run = await w.run()
    const sessionId = client.sessionId as string
    const other = await httpLegacy(w.http.url, { token: weak.token, capabilities, sessionId })
    await other.listen()
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    await w.clock.advance(10_000)
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded' }))
    await other.found((message) => message.params?.status === 'completed')
    expect(other.received.filter(({ message }) => message.method === 'elicitation/create')).toEqual([])
  })

  it('ends when nobody used it for its time, and not while its stream is open', async () => {
    await open({ server: { limits: { sweepMs: 60_000, sessionIdleMs: 600_000 } } })
    const idle = await httpLegacy(w.http.url)
    const used = await httpLegacy(w.http.url)
    await used.listen()
    for (let minute = 0; minute < 12; minute += 1) await w.clock.advance(60_000)
    expect(await w.store.sessions.get(idle.sessionId as string)).toBeUndefined()
    expect((await raw('POST', inSession(idle.sessionId as string), ping)).status).toBe(404)
    expect((await used.ask('ping')).result).toEqual({})
  })

  it('the idlest of one owner ends for one too many, and nobody else’s', async () => {
    const { auth, tokens } = callers('alice', 'bob')
    await open({ http: { auth }, server: { limits: { sweepMs: 1e12, maxSessions: 2 } } })
    const sessions: LegacyClient[] = []
    for (const name of ['bob', 'alice', 'alice', 'alice']) {
      sessions.push(await httpLegacy(w.http.url, { token: tokens[name] as string }))
      w.clock.jump(1)
    }
    const kept = await Promise.all(sessions.map(({ sessionId }) => w.store.sessions.get(sessionId as string)))
    expect(kept.map((record) => record !== undefined)).toEqual([true, false, true, true])
  })

  it('those that begin at one moment are bounded too', async () => {
    await open({ server: { limits: { sweepMs: 1e12, maxSessions: 2 } } })
    const { create } = w.store.sessions
    let arrived = 0
    w.store.sessions.create = async (record) => {
      arrived += 1
      await until(() => arrived === 5)
      return create(record)
    }
    const begun = await Promise.all(Array.from({ length: 5 }, () => httpLegacy(w.http.url)))
    const kept = await Promise.all(begun.map(({ sessionId }) => w.store.sessions.get(sessionId as string)))
    expect(kept.filter((record) => record !== undefined)).toHaveLength(2)
  })

  it('takes no more answers at once than the SDK takes requests', async () => {
    await open()
    const { sessionId = '' } = await httpLegacy(w.http.url, { version: '2025-03-26' })
    const answer = { jsonrpc: '2.0', result: {} }
    const batch = (length: number) => Array.from({ length }, (_, id) => ({ ...answer, id }))
    expect((await raw('POST', inSession(sessionId), batch(100))).status).toBe(202)
    expect((await raw('POST', inSession(sessionId), batch(101))).status).toBe(400)
  })

  it('an id that is none of ours does not reach the store', async () => {
    await open()
    w.store.sessions.get = async (id) => {
      throw new Error(`asked for ${id}`)
    }
    for (const id of ['x'.repeat(4_000), 'ses_x', 'channel'])
      expect((await raw('POST', inSession(id), ping)).status).toBe(404)
  })

  it('one GET stream at a time', async () => {
    await open()
    const client = await httpLegacy(w.http.url)
    const leave = await client.listen()
    expect((await raw('GET', inSession(client.sessionId as string))).status).toBe(409)
    leave()
    await until(async () => (await raw('GET', inSession(client.sessionId as string))).status === 200)
  })

  it('a store that can not be reached ends no session: 503, and then it goes on', async () => {
    await open()
    const client = await httpLegacy(w.http.url)
    const { get } = w.store.sessions
    w.store.sessions.get = async () => {
      throw new RunbridgeError('unavailable', 'The store is down.')
    }
    expect((await raw('POST', inSession(client.sessionId as string), ping)).status).toBe(503)
    w.store.sessions.get = get
    expect((await client.ask('ping')).result).toEqual({})
  })

  it('goes on in another process with the same store, and after a restart', async () => {
    await open()
    const client = await httpLegacy(w.http.url, { capabilities: { elicitation: {} } })
    const { store, clock, tools } = w
    const requestStateKey = new Uint8Array(32).fill(7)
    const other = await serveHttp({ server: createServer({ store, clock, tools, requestStateKey }) })
    ends.push(() => other.close())
    const there = await httpLegacy(other.url, { sessionId: client.sessionId as string })
    expect((await there.ask('tools/list')).result.tools[0].execution).toEqual({ taskSupport: 'optional' })
    expect((await client.ask('ping')).result).toEqual({})
    await there.close()
    expect((await raw('POST', inSession(client.sessionId as string), ping)).status).toBe(404)
  })
})
