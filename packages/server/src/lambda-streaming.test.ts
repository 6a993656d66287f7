import type { Backend } from '@runbridge/core'
import { fakeBackend, manualClock } from '@runbridge/core/testing'
import { memory } from '@runbridge/stores/memory'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { bearerAuth } from './auth/bearer-auth.js'
import { createServer } from './create-server.js'
import { lambdaHandler, type StreamingLambdaOptions, streamingLambdaHandler } from './lambda.js'
import { resolveTool } from './resolve-tool.js'
import { ci, mcpEvent, requestEvent } from './testing/function-url-event.js'
import { type Invocation, streamingRuntime } from './testing/streaming-runtime.js'
import { until } from './testing/world.js'

afterEach(() => {
  vi.unstubAllGlobals()
})

const TASKS = { tasks: true }
const call = { name: 'order', arguments: {} }

async function open(options: Partial<StreamingLambdaOptions> = {}) {
  const clock = manualClock()
  const { awslambda, invoke } = streamingRuntime(clock)
  vi.stubGlobal('awslambda', awslambda)
  const backend = fakeBackend({ clock })
  const store = memory()
  const tool = {
    backend: backend as Backend,
    workflow: { id: 'order' },
    name: 'order',
    description: 'A test.',
  }
  const tools = [await resolveTool(tool, { signal: new AbortController().signal })]
  const requestStateKey = new Uint8Array(32).fill(7)
  /** Another sandbox of the same function. */
  const sandbox = () => {
    const server = createServer({ tools, store, clock, requestStateKey, freezes: true })
    const auth = () => bearerAuth({ tokens: [{ name: 'ci', sha256: ci.sha256 }] })
    return { server, made: { server, tools, auth, ...options } }
  }
  const { server, made } = sandbox()
  const handler = streamingLambdaHandler(made)
  const start = async () => {
    const { body } = await invoke(handler, mcpEvent('tools/call', call, TASKS)).answer()
    return messagesOf(body).at(-1)?.result.taskId as string
  }
  const listen = (notifications: object, timing = {}) =>
    invoke(handler, mcpEvent('subscriptions/listen', { notifications }, TASKS), timing)
  const readsIn = async (ms: number) => {
    const before = backend.callsOf('get').length
    await clock.advance(ms)
    return backend.callsOf('get').length - before
  }
  return { clock, backend, store, server, handler, sandbox, invoke, start, listen, readsIn }
}

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
function messagesOf(body: string): any[] {
  const events = [...body.matchAll(/^data: (.+)$/gm)]
  return events.length > 0 ? events.map(([, data = '']) => JSON.parse(data)) : [JSON.parse(body)]
}

/** The messages of a stream, one by one, and `undefined` after its end. */
async function listener(invocation: Invocation) {
  const { head, pieces } = await invocation.read()
  const ready: unknown[] = []
  return {
    head,
    // biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
    async next(): Promise<any> {
      while (ready.length === 0) {
        const { done, value } = await pieces.next()
        if (done) return undefined
        if (value.startsWith('event:')) ready.push(...messagesOf(value))
      }
      return ready.shift()
    },
  }
}

describe('subscriptions/listen', () => {
  it('tells the end of a run, and ends with it; the sandbox may freeze then', async () => {
    const { backend, clock, start, listen, server } = await open()
    const taskId = await start()
    const invocation = listen({ taskIds: [taskId] })
    const stream = await listener(invocation)
    expect(stream.head).toMatchObject({ statusCode: 200, headers: { 'content-type': 'text/event-stream' } })
    expect((await stream.next()).params.notifications).toEqual({ taskIds: [taskId] })
    expect((await stream.next()).params.status).toBe('working')
    backend.set(backend.executions[0]?.runKey ?? '', { state: 'succeeded', output: { total: 7 } })
    await clock.advance(5_000)
    const told = [await stream.next()]
    while (told.at(-1)) told.push(await stream.next())
    expect(told.at(-3)?.params).toMatchObject({ taskId, status: 'completed' })
    expect(told.at(-2)).toMatchObject({ id: 1, result: { resultType: 'complete' } })
    await invocation.ended
    expect(invocation.context.callbackWaitsForEmptyEventLoop).toBe(false)
    const drained = server.drain().then(() => 'idle')
    expect(await Promise.race([drained, new Promise((r) => setImmediate(r, 'busy'))])).toBe('idle')
  })

  it('sees within a second what another sandbox recorded', async () => {
    const { backend, clock, start, listen, sandbox } = await open()
    const taskId = await start()
    const stream = await listener(listen({ taskIds: [taskId] }))
    await stream.next()
    await stream.next()
    await clock.advance(2_000)
    const runKey = backend.executions[0]?.runKey ?? ''
    backend.set(runKey, { state: 'running', progress: { message: 'half way' } })
    await sandbox().server.service.hint({ runKey })
    // Nothing but the record tells it then.
    vi.spyOn(backend, 'get').mockRejectedValue(new Error('not reached'))
    const told = async () => {
      for (let message = await stream.next(); message; message = await stream.next())
        if (message.params?.statusMessage?.includes('half way')) return true
      return false
    }
    const heard = told()
    await clock.advance(1_000)
    expect(await heard).toBe(true)
  })

  it.each([
    ['after its longest time', { longestListenMs: 20_000 }, 330_000, 20_000],
    ['after a minute without another word', {}, 330_000, 60_000],
    ['5 s before the timeout of the function', {}, 30_000, 25_000],
    ['at once where the timeout is that near', {}, 4_000, 0],
  ])('ends gracefully %s, and can be taken up again', async (_name, options, timeoutMs, afterMs) => {
    const { clock, start, listen, readsIn } = await open(options)
    const taskId = await start()
    const invocation = listen({ taskIds: [taskId] }, { timeoutMs })
    let over = false
    const whole = invocation.answer().finally(() => {
      over = true
    })
    if (afterMs > 0) {
      await clock.advance(afterMs - 1)
      expect(over).toBe(false)
    }
    await clock.advance(1)
    const said = messagesOf((await whole).body)
    expect(said[0]?.params.notifications).toEqual({ taskIds: [taskId] })
    expect(said.at(-1)).toMatchObject({ id: 1, result: { resultType: 'complete' } })
    await invocation.ended
    expect(invocation.context.getRemainingTimeInMillis()).toBeGreaterThan(0)
    expect(await readsIn(60_000)).toBe(0)
    const again = await listener(listen({ taskIds: [taskId] }, { timeoutMs: 330_000 }))
    expect((await again.next()).params.notifications).toEqual({ taskIds: [taskId] })
  })

  it('ends with everything that it began when the connection to Lambda breaks', async () => {
    const { start, listen, readsIn, server } = await open()
    const invocation = listen({ taskIds: [await start()] })
    const stream = await listener(invocation)
    await stream.next()
    invocation.break()
    await expect(invocation.ended).rejects.toThrow('socket hang up')
    await server.drain()
    expect(await readsIn(60_000)).toBe(0)
  })

  it('piles nothing up for who does not read, and ends 1 s before the timeout even then', async () => {
    const { backend, clock, start, listen, readsIn } = await open()
    const invocation = listen({ taskIds: [await start()] }, { timeoutMs: 30_000, highWaterMark: 1 })
    await until(() => backend.callsOf('get').length > 0 || clock.advance(1_000).then(() => false))
    await clock.advance(29_000)
    expect(await readsIn(60_000)).toBe(0)
    const { body } = await invocation.answer()
    expect(messagesOf(body).map(({ method }) => method)).toEqual(['notifications/subscriptions/acknowledged'])
    await invocation.ended
  })
})

describe('everything else', () => {
  it('is answered as without streaming, however slowly it is taken', async () => {
    const { handler, invoke, sandbox, clock } = await open()
    const buffered = lambdaHandler(sandbox().made)
    const denied = mcpEvent('tools/list', {}, { headers: { authorization: 'Bearer no' } })
    for (const event of [
      mcpEvent('tools/list'),
      mcpEvent('tools/call', { name: 'none', arguments: {} }),
      denied,
      mcpEvent('server/discover'),
      requestEvent('GET', '/nowhere'),
    ]) {
      const { body, ...head } = (await buffered(event)) ?? { body: '' }
      const streamed = await invoke(handler, event, { highWaterMark: 1 }).answer()
      const { isBase64Encoded: _, ...expected } = head as typeof head & { isBase64Encoded: boolean }
      expect(streamed).toEqual({ head: expected, body })
    }
    expect(clock.now()).toBe(manualClock().now())
  })

  it('has a head and a body even where the answer has none, which Lambda needs', async () => {
    const { handler, invoke } = await open()
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    const { headers } = mcpEvent('notifications/cancelled', {})
    const event = { ...requestEvent('POST', '/mcp', JSON.stringify(cancelled)), headers }
    expect(await invoke(handler, event).answer()).toMatchObject({ head: { statusCode: 202 }, body: '\n' })
  })

  it('ends when nothing is under way any more', async () => {
    const { handler, invoke, server } = await open()
    let drained = () => {}
    vi.spyOn(server, 'drain').mockReturnValue(
      new Promise((resolve) => {
        drained = resolve
      }),
    )
    const invocation = invoke(handler, mcpEvent('tools/list'))
    const whole = invocation.answer()
    await until(() => vi.mocked(server.drain).mock.calls.length > 0)
    let over = false
    const ends = invocation.ended.then(() => {
      over = true
    })
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(over).toBe(false)
    drained()
    expect((await whole).head.statusCode).toBe(200)
    await ends
  })

  it('that is no request is done as before, and its failure reaches Lambda', async () => {
    const { handler, invoke, store } = await open({ events: [async (event) => event === 'mine'] })
    for (const event of [{ runbridge: 'sweep' }, 'mine']) await invoke(handler, event).ended
    await expect(invoke(handler, { hello: 1 }).ended).rejects.toThrow('payload format 2.0')
    vi.spyOn(store, 'sweep').mockRejectedValue(new Error('the table is gone'))
    await expect(invoke(handler, { runbridge: 'sweep' }).ended).rejects.toThrow('the table is gone')
  })
})

describe('the configuration is refused', () => {
  it('behind API Gateway, whose HTTP APIs do not stream', async () => {
    await expect(open({ front: 'api-gateway' })).rejects.toThrow(/HTTP APIs .* `streaming`/)
  })

  it('outside of a runtime that streams', async () => {
    const { sandbox } = await open()
    vi.unstubAllGlobals()
    expect(() => streamingLambdaHandler(sandbox().made)).toThrow('only the Node.js runtimes of Lambda')
  })
})
