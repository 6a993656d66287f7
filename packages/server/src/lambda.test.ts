import type { Backend } from '@runbridge/core'
import { fakeBackend, manualClock } from '@runbridge/core/testing'
import { memory } from '@runbridge/stores/memory'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bearerAuth } from './auth/bearer-auth.js'
import { createServer } from './create-server.js'
import { type HttpResult, type LambdaOptions, lambdaHandler } from './lambda.js'
import { resolveTool } from './resolve-tool.js'
import { ci, HOST, mcpEvent, requestEvent } from './testing/function-url-event.js'
import { AUDIENCE, type Issuer, startIssuer } from './testing/issuer.js'
import { until } from './testing/world.js'

/** The JSON-RPC answer in the body: JSON, or the last event of a stream. */
function answerOf(result: HttpResult | undefined) {
  const text = result?.body ?? ''
  const events = [...text.matchAll(/^data: (.+)$/gm)]
  return JSON.parse(events.at(-1)?.[1] ?? text)
}

let issuer: Issuer
beforeEach(async () => {
  issuer = await startIssuer()
})
afterEach(() => issuer.close())

async function open(options: Partial<LambdaOptions> & { capabilities?: object; tool?: object } = {}) {
  const { capabilities, tool, ...more } = options
  const clock = manualClock()
  const backend = fakeBackend({ clock, ...(capabilities && { capabilities }) })
  const store = memory()
  const resolved = await resolveTool(
    {
      backend: backend as Backend,
      workflow: { id: 'order' },
      name: 'order',
      description: 'A test.',
      ...tool,
    },
    { signal: new AbortController().signal },
  )
  const tools = [resolved]
  const server = createServer({
    tools,
    store,
    clock,
    requestStateKey: new Uint8Array(32).fill(7),
    freezes: true,
  })
  const addresses: string[] = []
  const handler = lambdaHandler({
    server,
    tools,
    auth: (address) => {
      addresses.push(address)
      return bearerAuth({
        jwt: [{ issuer: issuer.issuer, audience: AUDIENCE }],
        tokens: [{ name: 'ci', sha256: ci.sha256 }],
        resourceUrl: `${address}/mcp`,
      })
    },
    ...more,
  })
  return { clock, backend, store, server, handler, addresses }
}

const call = { name: 'order', arguments: {} }

describe('a request', () => {
  it('of the extension starts a task, which another invocation reads to its end', async () => {
    const { handler, backend, clock } = await open()
    const { result } = answerOf(await handler(mcpEvent('tools/call', call, { tasks: true })))
    expect(result).toMatchObject({ resultType: 'task', status: 'working' })
    const [run] = backend.executions
    backend.set(run?.runKey ?? '', { state: 'succeeded', output: { total: 7 } })
    clock.jump(60_000)
    const { taskId } = result
    const read = answerOf(await handler(mcpEvent('tasks/get', { taskId }, { tasks: true })))
    expect(read.result).toMatchObject({ status: 'completed', result: { structuredContent: { total: 7 } } })
  })

  it('of a client without tasks is answered at once with a task id, never held', async () => {
    const { handler, clock } = await open()
    const before = clock.now()
    const { result } = answerOf(await handler(mcpEvent('tools/call', call)))
    expect(result.content[0].text).toMatch(/^Task tsk_/)
    const taskId = /tsk_[\w-]+/.exec(result.content[0].text)?.[0]
    const status = { name: 'task_status', arguments: { taskId, waitSeconds: 45 } }
    const asked = answerOf(await handler(mcpEvent('tools/call', status)))
    expect(asked.result.content[0].text).toContain(
      `This is not the result yet. After 1 s or later call task_status with {"taskId":"${taskId}"}`,
    )
    expect(clock.now()).toBe(before)
  })

  it('of an older revision is served without a session; task metadata is ignored', async () => {
    const { handler } = await open()
    const initialize = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'old', version: '0' },
    }
    const opened = await handler(mcpEvent('initialize', initialize, { legacy: true }))
    expect(answerOf(opened).result.capabilities).toEqual({ tools: {}, resources: {} })
    expect(opened?.headers).not.toHaveProperty('mcp-session-id')
    for (const asked of [
      { task: { ttl: 60_000 } },
      { _meta: { 'modelcontextprotocol.io/task': { taskId: 'mine', keepAlive: 1 } } },
    ]) {
      const { result } = answerOf(
        await handler(mcpEvent('tools/call', { ...call, ...asked }, { legacy: true })),
      )
      expect(result.content[0].text).toMatch(/^Task tsk_/)
      expect(result).not.toHaveProperty('task')
    }
  })

  it('subscriptions/listen is refused with the reason, under the id of the request', async () => {
    const { handler } = await open()
    const answer = await handler(mcpEvent('subscriptions/listen', { taskIds: ['x'] }, { tasks: true }))
    expect(answer?.statusCode).toBe(404)
    expect(answerOf(answer)).toMatchObject({
      id: 1,
      error: { code: -32601, message: expect.stringContaining('stands still between requests') },
    })
  })

  it('may come in base64, and with a query', async () => {
    const { handler } = await open()
    const event = mcpEvent('tools/list', {}, { base64: true })
    const answer = answerOf(await handler({ ...event, rawQueryString: 'a=b' }))
    expect(answer.result.tools.map(({ name }: { name: string }) => name)).toContain('order')
  })

  it('is answered when nothing is under way any more', async () => {
    const { handler, server } = await open()
    let drained = () => {}
    const drain = vi.spyOn(server, 'drain').mockReturnValue(
      new Promise((resolve) => {
        drained = resolve
      }),
    )
    const answered = handler(mcpEvent('tools/list'))
    await until(() => drain.mock.calls.length > 0)
    expect(await Promise.race([answered, nextTurn()])).toBe('busy')
    drained()
    expect(answerOf(await answered).result.tools).not.toEqual([])
  })
})

const nextTurn = () => new Promise((resolve) => setImmediate(() => resolve('busy')))

describe('callers', () => {
  it('with a JWT are its subject; the resource is the address that AWS routed the request by', async () => {
    const { handler, store, addresses } = await open()
    const token = await issuer.token({ sub: 'ada' })
    const headers = { authorization: `Bearer ${token}` }
    const { result } = answerOf(await handler(mcpEvent('tools/call', call, { tasks: true, headers })))
    const owner = JSON.stringify(['subject', issuer.issuer, 'ada'])
    expect(await store.get({ owner, taskId: result.taskId })).toBeDefined()
    await handler(mcpEvent('tools/list'))
    expect(addresses).toEqual([`https://${HOST}`])
  })

  it('without a token are told where to get one, and the metadata is public', async () => {
    const { handler } = await open()
    const event = mcpEvent('tools/list')
    const { authorization: _, ...headers } = event.headers as Record<string, string>
    const answer = await handler({ ...event, headers })
    expect(answer?.statusCode).toBe(401)
    expect(answer?.headers['www-authenticate']).toBe(
      `Bearer resource_metadata="https://${HOST}/.well-known/oauth-protected-resource/mcp"`,
    )
    const metadata = await handler(requestEvent('GET', '/.well-known/oauth-protected-resource/mcp'))
    expect(JSON.parse(metadata?.body ?? '')).toMatchObject({
      resource: `https://${HOST}/mcp`,
      authorization_servers: [issuer.issuer],
    })
  })

  it('of IAM are their account and role, whatever the session; unverified ones are refused', async () => {
    const { handler, store } = await open({ auth: 'iam' })
    const iam = (session: string) => ({
      accountId: '111122223333',
      callerId: `AROAEXAMPLE:${session}`,
      userArn: `arn:aws:sts::111122223333:assumed-role/agents/${session}`,
    })
    const event = mcpEvent('tools/call', call, { tasks: true, iam: iam('one') })
    const { result } = answerOf(await handler(event))
    const owner = '["iam","111122223333","AROAEXAMPLE"]'
    expect(await store.get({ owner, taskId: result.taskId })).toBeDefined()
    const { taskId } = result
    const again = answerOf(await handler(mcpEvent('tasks/get', { taskId }, { tasks: true, iam: iam('two') })))
    expect(again.result.taskId).toBe(taskId)
    expect((await handler(mcpEvent('tools/list')))?.statusCode).toBe(401)
  })
})

describe('behind API Gateway', () => {
  const at = (stage: string, path: string, more: object = {}) => {
    const event = { ...mcpEvent('tools/list'), rawPath: path, ...more }
    return { ...event, requestContext: { ...event.requestContext, stage } }
  }
  const tokensAlone = (address: string) =>
    bearerAuth({ tokens: [{ name: 'ci', sha256: ci.sha256 }], resourceUrl: `${address}/mcp` })

  it('a named stage is no part of the path, and part of the address', async () => {
    const addresses: string[] = []
    const auth = (address: string) => {
      addresses.push(address)
      return tokensAlone(address)
    }
    const { handler } = await open({ front: 'api-gateway', auth })
    expect((await handler(at('prod', '/prod/mcp')))?.statusCode).toBe(200)
    expect((await handler(at('prod', '/mcp')))?.statusCode).toBe(200)
    expect((await handler(at('prod', '/products/mcp')))?.statusCode).toBe(404)
    expect(addresses).toEqual([`https://${HOST}/prod`, `https://${HOST}`])
  })

  it('a named stage is refused where clients would look for an authorization server at the root', async () => {
    const { handler } = await open({ front: 'api-gateway' })
    await expect(handler(at('prod', '/prod/mcp'))).rejects.toThrow(
      `https://${HOST}/prod/mcp at the root of its host, which a named stage does not serve`,
    )
    expect((await handler(at('prod', '/mcp')))?.statusCode).toBe(200)
  })

  it('the challenge is there under a second name, which parameter mapping may read', async () => {
    const { handler } = await open({ front: 'api-gateway' })
    const answer = await handler(at('$default', '/mcp', { headers: { host: HOST } }))
    expect(answer?.headers['runbridge-challenge']).toMatch(/^Bearer resource_metadata=/)
    expect(answer?.headers['runbridge-challenge']).toBe(answer?.headers['www-authenticate'])
    const { handler: direct } = await open()
    const other = await direct(at('$default', '/mcp', { headers: { host: HOST } }))
    expect(other?.headers).not.toHaveProperty('runbridge-challenge')
  })
})

it('a request that can not be one is answered, and no failure of the function', async () => {
  const { handler } = await open()
  const answer = await handler(mcpEvent('tools/list', {}, { headers: { 'x-name': '名' } }))
  expect(answer).toMatchObject({ statusCode: 400, body: expect.stringContaining('can not be read') })
})

describe('the configuration', () => {
  it('with an Express tool behind API Gateway is refused, behind a Function URL it is not', async () => {
    const express = { capabilities: { execution: 'call' } }
    await expect(open({ ...express, front: 'api-gateway' })).rejects.toThrow(
      /order: an Express state machine .* gives up after 30 s/,
    )
    await open(express)
  })

  it('with scopes for callers known by IAM is refused', async () => {
    await expect(open({ tool: { scopes: ['deploy'] }, auth: 'iam' })).rejects.toThrow(/scopes/)
  })
})

describe('other events', () => {
  it.each([{ source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} }, { runbridge: 'sweep' }])(
    'a schedule sweeps: $source',
    async (event) => {
      const { handler, backend, clock, store } = await open()
      const { result } = answerOf(await handler(mcpEvent('tools/call', call, { tasks: true })))
      backend.set(backend.executions[0]?.runKey ?? '', { state: 'succeeded', output: 1 })
      clock.jump(60_000)
      await handler(mcpEvent('tasks/get', { taskId: result.taskId }, { tasks: true }))
      clock.jump(400 * 86_400_000)
      expect(await handler(event)).toBeUndefined()
      const owner = '["subject","urn:runbridge:token","ci"]'
      expect(await store.get({ owner, taskId: result.taskId })).toBeUndefined()
    },
  )

  it('go to whoever takes them; one that nobody takes fails, for the dead-letter queue', async () => {
    const taken: unknown[] = []
    const { handler } = await open({
      events: [
        async (event) => {
          if (!(event as { mine?: boolean }).mine) return false
          taken.push(event)
          return true
        },
      ],
    })
    await handler({ mine: true })
    expect(taken).toEqual([{ mine: true }])
    await expect(handler({ version: '1.0', httpMethod: 'GET' })).rejects.toThrow('payload format 2.0')
  })
})
