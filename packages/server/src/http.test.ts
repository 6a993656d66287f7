import { request } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createServer } from './create-server.js'
import { serveHttp } from './http.js'
import { headersOf, send } from './testing/raw-client.js'
import { until, type World, type WorldOptions, world } from './testing/world.js'
import type { Tool } from './tool.js'

let w: World
const open = async (options?: WorldOptions) => {
  w = await world(options)
}
afterEach(() => w.close())

/** A GET with headers that fetch does not let one set. */
function get(
  path: string,
  headers: Record<string, string> = {},
  url = w.http.url,
): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
      .on('error', reject)
      .end()
  })
}

describe('the listener', () => {
  it.each(['0.0.0.0', '::', '192.168.1.1', '127.0.0.1.example.com'])(
    'refuses to listen on %s',
    async (host) => {
      await open()
      await expect(serveHttp({ server: w.server, host })).rejects.toMatchObject({
        code: 'misconfigured',
        message: expect.stringContaining('Nothing authenticates callers'),
      })
    },
  )

  it('names the port that is taken', async () => {
    await open()
    const port = Number(new URL(w.http.url).port)
    await expect(serveHttp({ server: w.server, port })).rejects.toThrow(
      /Can not listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/,
    )
  })

  it('refuses foreign Host and Origin headers', async () => {
    await open()
    expect((await get('/mcp', { host: 'evil.example' })).status).toBe(403)
    expect((await get('/mcp', { origin: 'https://evil.example' })).status).toBe(403)
    expect((await get('/mcp', { origin: 'http://localhost:3000' })).status).not.toBe(403)
  })

  it('accepts hosts and origins that are configured', async () => {
    await open()
    const allowed = { allowedHosts: ['app.example'], allowedOrigins: ['https://app.example'] }
    const own = await serveHttp({ server: w.server, ...allowed })
    const headers = { origin: 'https://app.example', host: 'app.example' }
    expect((await get('/mcp', headers, own.url)).status).not.toBe(403)
    expect((await get('/mcp', { ...headers, host: 'evil.example' }, own.url)).status).toBe(403)
    await own.close()
  })

  it('answers probes by whatever address they have', async () => {
    await open()
    expect((await get('/healthz', { host: '10.0.0.7:8080' })).status).toBe(200)
    expect((await get('/readyz', { host: '10.0.0.7:8080' })).status).toBe(200)
  })

  it('hands routes of others what comes from outside, raw, and no page of a browser', async () => {
    await open()
    const seen: string[] = []
    const handle = async (request: Request) => {
      seen.push(`${request.method} ${await request.text()}`)
      return new Response('taken', { status: 202 })
    }
    const http = await serveHttp({ server: w.server, routes: [{ path: '/webhooks/github', handle }] })
    const url = new URL('/webhooks/github', http.url)
    try {
      const posted = await fetch(url, { method: 'POST', body: '{"a" : 1}' })
      expect([posted.status, await posted.text()]).toEqual([202, 'taken'])
      expect((await get(url.pathname, { host: 'hooks.example.com' }, http.url)).status).toBe(202)
      const origin = { origin: 'https://evil.example' }
      expect((await get(url.pathname, origin, http.url)).status).toBe(403)
      expect((await get('/mcp', { host: 'hooks.example.com' }, http.url)).status).toBe(403)
      expect(seen).toEqual(['POST {"a" : 1}', 'GET '])
    } finally {
      await http.close()
    }
  })

  it.each(['/mcp', '/readyz', 'webhooks', '/a/*', '/:a', '/'])('refuses a route at %s', async (path) => {
    await open()
    const routes = [{ path, handle: async () => new Response() }]
    await expect(serveHttp({ server: w.server, routes })).rejects.toMatchObject({ code: 'misconfigured' })
  })

  it('refuses a body over the limit before anything is parsed', async () => {
    await open({ server: { limits: { maxBodyBytes: 1000, sweepMs: 1e12 } } })
    const { status } = await send(w.http.url, 'tools/call', {
      name: 'order',
      arguments: { x: 'y'.repeat(1000) },
    })
    expect(status).toBe(413)
    expect(w.backend.executions).toEqual([])
  })

  it.each([{}, { 'mcp-session-id': 'ses_x' }])(
    'refuses it where no header tells the revision: %o',
    async (extra) => {
      await open({ server: { limits: { maxBodyBytes: 1000, sweepMs: 1e12 } } })
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...extra,
      }
      // In pieces, so that no header tells its length.
      const body = new Blob([
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'y'.repeat(1000) } }),
      ])
      const sent = { method: 'POST', headers, body: body.stream(), duplex: 'half' }
      const { status } = await w.server.handler(new Request(w.http.url, sent as RequestInit))
      expect(status).toBe(413)
    },
  )

  it.each(['subscriptions/listen', 'tools/call'])(
    'outlives a client that leaves in the middle of its %s',
    async (method) => {
      await open()
      const unhandled: unknown[] = []
      const note = (reason: unknown) => unhandled.push(reason)
      process.on('unhandledRejection', note)
      try {
        const { port } = new URL(w.http.url)
        const headers = { 'content-length': '1000', host: `127.0.0.1:${port}`, ...headersOf(method, 'order') }
        const socket = connect(Number(port), '127.0.0.1')
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
        const arrived = vi.spyOn(w.server, 'handler')
        socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n{"jsonrpc"`)
        await until(() => arrived.mock.results[0])
        socket.destroy()
        await Promise.resolve(arrived.mock.results[0]?.value).catch(() => undefined)
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      } finally {
        process.off('unhandledRejection', note)
      }
      expect(unhandled).toEqual([])
      expect((await get('/healthz')).status).toBe(200)
    },
  )
})

describe('health', () => {
  it('/healthz says that the process is alive, /readyz that the store can be reached', async () => {
    await open()
    expect(await get('/healthz')).toEqual({ status: 200, body: 'ok' })
    expect(await get('/readyz')).toEqual({ status: 200, body: 'ready' })
    await w.store.close()
    expect((await get('/healthz')).status).toBe(200)
    expect(await get('/readyz')).toEqual({ status: 503, body: 'The task store can not be reached.' })
  })
})

it('asks the store once for all probes of one moment', async () => {
  await open()
  const asked = vi.spyOn(w.store, 'get')
  expect(await Promise.all(Array.from({ length: 50 }, () => w.server.unready()))).toEqual(
    Array(50).fill(undefined),
  )
  expect(asked).toHaveBeenCalledTimes(1)
  expect(await w.server.unready()).toBeUndefined()
  expect(asked).toHaveBeenCalledTimes(2)
})

describe('a graceful end', () => {
  it('answers held calls with their task id, finishes starts under way, and leaves runs alone', async () => {
    await open()
    const held = send(w.http.url, 'tools/call', { name: 'order' })
    await w.run()
    const start = w.backend.hold('start')
    const starting = send(w.http.url, 'tools/call', { name: 'order' }, { tasks: true })
    await start.arrived
    let closed = false
    const closing = w.close().then(() => {
      closed = true
    })
    expect((await held).result.content[0].text).toContain('task_status')
    expect(closed).toBe(false)
    start.release('started')
    expect((await starting).result.resultType).toBe('task')
    await closing
    expect(w.backend.executions.map(({ snapshot }) => snapshot.state)).toEqual(['running', 'running'])
    await expect(fetch(w.http.url)).rejects.toThrow()
  })

  it('waits for calls that end by themselves', async () => {
    await open({ tools: [{ name: 'greet' }], capabilities: { execution: 'call' } })
    const held = w.backend.hold('call')
    const calling = send(w.http.url, 'tools/call', { name: 'greet', arguments: { name: 'Ada' } })
    await held.arrived
    let closed = false
    const closing = w.close().then(() => {
      closed = true
    })
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(closed).toBe(false)
    held.release()
    expect((await calling).result.structuredContent).toEqual({ name: 'Ada' })
    await closing
  })

  it('refuses new requests on connections that are still open', async () => {
    await open()
    const start = w.backend.hold('start')
    const starting = send(w.http.url, 'tools/call', { name: 'order' }, { tasks: true })
    await start.arrived
    const closing = w.close()
    const late = await w.server.handler(new Request(w.http.url, { method: 'POST', body: '{}' }))
    expect(late.status).toBe(503)
    expect(await w.server.unready()).toBe('This server is shutting down.')
    start.release('started')
    await starting
    await closing
  })

  it('an idle connection does not delay it', async () => {
    await open()
    const { hostname, port } = new URL(w.http.url)
    const socket = connect(Number(port), hostname)
    await new Promise((resolve) => socket.once('connect', resolve))
    const ended = new Promise((resolve) => socket.once('close', resolve))
    await w.close()
    await ended
  })
})

describe('limits', () => {
  const limits = { maxOpenTasks: 2, maxCalls: 1, sweepMs: 1e12 }

  it('open tasks of one owner', async () => {
    await open({ server: { limits } })
    const call = () => send(w.http.url, 'tools/call', { name: 'order' }, { tasks: true })
    await call()
    await call()
    const { result } = await call()
    expect(result.isError).toBe(true)
    expect(result.content[0].text).toContain('This caller has 2 open tasks')
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded' }))
    expect((await call()).result.resultType).toBe('task')
  })

  it('calls of one owner at a time', async () => {
    await open({ server: { limits } })
    const start = w.backend.hold('start')
    const first = send(w.http.url, 'tools/call', { name: 'order' }, { tasks: true })
    await start.arrived
    const { result } = await send(w.http.url, 'tools/call', { name: 'order' }, { tasks: true })
    expect(result.content[0].text).toContain('at most 1 calls of one caller at a time')
    const urgent = await send(w.http.url, 'tools/call', { name: 'task_cancel', arguments: { taskId: 'x' } })
    expect(urgent.result.content[0].text).toBe('Task not found')
    start.release()
    expect((await first).result.resultType).toBe('task')
    expect(w.backend.executions).toHaveLength(1)
  })
})

describe('createServer', () => {
  const base = () => ({ store: w.store, requestStateKey: new Uint8Array(32), clock: w.clock })

  it('refuses a short key, no tools, and names that are taken', async () => {
    await open()
    const inputSchema = { type: 'object' }
    expect(() => createServer({ ...base(), tools: [] })).toThrow(/No tool is configured/)
    const order = { name: 'order', inputSchema } as unknown as Tool
    expect(() => createServer({ ...base(), tools: [order, order] })).toThrow(/The tool name order is taken/)
    expect(() => createServer({ ...base(), tools: [order], requestStateKey: new Uint8Array(31) })).toThrow(
      /31 bytes/,
    )
  })

  it('sweeps regularly until it is closed', async () => {
    await open({ server: { limits: { sweepMs: 15_000 } }, tools: [{ name: 'order', retainMs: 1000 }] })
    const { result } = await send(w.http.url, 'tools/call', { name: 'order' }, { tasks: true })
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded' }))
    expect(await w.store.get({ owner: 'local', taskId: result.taskId })).toBeDefined()
    await w.clock.advance(16_000)
    expect(await w.store.get({ owner: 'local', taskId: result.taskId })).toBeUndefined()
  })
})
