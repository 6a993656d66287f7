import { RunbridgeError } from '@runbridge/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { httpLegacy, type LegacyClient, type LegacyOptions, stdioLegacy } from '../testing/legacy-client.js'
import { send } from '../testing/raw-client.js'
import { until, type World, type WorldOptions, world } from '../testing/world.js'
import { callers } from './testing/callers.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
type Any = any

const RELATED = 'io.modelcontextprotocol/related-task'
const ELICITS = { capabilities: { elicitation: {} } }
let w: World
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function open(options?: WorldOptions): Promise<void> {
  w = await world(options)
  ends.push(() => w.close())
}

const WIRES = {
  http: (options?: LegacyOptions) => httpLegacy(w.http.url, options),
  stdio: (options?: LegacyOptions) => stdioLegacy(w.server, options),
}

const task = (client: LegacyClient, name = 'order', more: object = {}) =>
  client.ask('tools/call', { name, arguments: {}, task: {}, ...more })

/** Everything a client sends a question for. */
const isQuestion = (message: Any) => message.method === 'elicitation/create'
const ACCEPT = { result: { action: 'accept', content: { approve: true } } }

describe.each(['http', 'stdio'] as const)('a task over %s', (wire) => {
  const connect = (options?: LegacyOptions) => WIRES[wire](options)

  it('to its result: declared, made, polled, waited for', async () => {
    await open()
    const client = await connect()
    expect(client.hello.capabilities.tasks).toEqual({
      ...(wire === 'stdio' && { list: {} }),
      cancel: {},
      requests: { tools: { call: {} } },
    })
    const { result: listed } = await client.ask('tools/list')
    expect(listed.tools[0]).toMatchObject({ name: 'order', execution: { taskSupport: 'optional' } })
    expect(listed.tools[1]).not.toHaveProperty('execution')

    const { result: made } = await task(client, 'order', { task: { ttl: 600_000 } })
    expect(made).toEqual({
      task: {
        taskId: expect.stringMatching(/^tsk_/),
        status: 'working',
        statusMessage: expect.any(String),
        createdAt: expect.stringMatching(/Z$/),
        lastUpdatedAt: expect.stringMatching(/Z$/),
        ttl: null,
        pollInterval: expect.any(Number),
      },
      _meta: { 'io.modelcontextprotocol/model-immediate-response': expect.stringContaining('accepted') },
    })
    const { taskId } = made.task
    expect((await client.ask('tasks/get', { taskId })).result).toMatchObject({ taskId, status: 'working' })
    const waiting = client.ask('tasks/result', { taskId })
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: { total: 7 } }))
    await w.clock.advance(5_000)
    expect((await waiting).result).toMatchObject({
      content: [{ type: 'text', text: '{"total":7}' }, {}],
      structuredContent: { total: 7 },
      _meta: { [RELATED]: { taskId } },
    })
    const { result: ended } = await client.ask('tasks/get', { taskId })
    expect(ended).toMatchObject({ status: 'completed', ttl: expect.any(Number) })
    expect(ended.ttl).toBeGreaterThanOrEqual(600_000)
  })

  it('asks inside tasks/result, and once more outside after a grace for clients that never call it', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const client = await connect(ELICITS)
    await client.listen()
    const { taskId } = (await task(client, 'deploy')).result.task
    const run = await w.run()
    const waiting = client.send('tasks/result', { taskId })
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    const inside = await client.found(isQuestion)
    expect(inside.message.params).toEqual({
      message: 'Approve a?',
      requestedSchema: expect.objectContaining({ type: 'object' }),
      _meta: { [RELATED]: { taskId } },
    })
    if (wire === 'http') expect(inside.stream).toBe(waiting.id)
    expect((await client.ask('tasks/get', { taskId })).result.status).toBe('input_required')
    await w.clock.advance(20_000)
    expect(client.received.filter(({ message }) => isQuestion(message))).toHaveLength(1)
    await client.respond(inside.message.id, ACCEPT)
    await until(() => run.answers.has('a'))
    expect((await client.ask('tasks/get', { taskId })).result.status).toBe('working')
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'done' }))
    await w.clock.advance(5_000)
    expect((await waiting.answer).result.content[0].text).toBe('done')

    const second = (await task(client, 'deploy')).result.task.taskId
    const next = await w.run(1)
    await w.set(next, () => w.backend.openGate(next.runKey, { id: 'b' }))
    await until(async () => (await client.ask('tasks/get', { taskId: second })).result.status !== 'working')
    await w.clock.advance(4_000)
    expect(client.received.filter(({ message }) => isQuestion(message))).toHaveLength(1)
    await w.clock.advance(2_000)
    const outside = await client.found(
      (message) => isQuestion(message) && message.params.message === 'Approve b?',
    )
    expect(outside).toMatchObject({
      stream: 'session',
      message: { params: { _meta: { [RELATED]: { taskId: second } } } },
    })
    await w.clock.advance(60_000)
    expect(client.received.filter(({ message }) => isQuestion(message))).toHaveLength(2)
    await client.respond(outside.message.id, ACCEPT)
    await until(() => next.answers.has('b'))
  })

  it('cancel of a terminal task -32602; a cancelled task stays cancelled, whatever becomes of its run', async () => {
    const told: Any[] = []
    const audit = { info: (fields: object) => void told.push(fields), warn() {}, error() {} }
    await open({ server: { audit, limits: { sweepMs: 1e12 } } })
    const client = await connect()
    const { taskId } = (await task(client)).result.task
    const run = await w.run()
    w.backend.script('cancel', 'sent_in_vain')
    const { result } = await client.ask('tasks/cancel', { taskId })
    expect(result).toMatchObject({ taskId, status: 'cancelled', statusMessage: expect.any(String) })
    expect(result).not.toHaveProperty('_meta')
    expect(run.cancels).toHaveLength(1)
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'done' }))
    await w.server.service.sweep()
    expect(told.filter(({ audit: action }) => action === 'end')).toMatchObject([
      { owner: 'local', tool: 'order', taskId, outcome: 'succeeded' },
    ])
    expect((await client.ask('tasks/get', { taskId })).result.status).toBe('cancelled')
    expect((await client.ask('tasks/result', { taskId })).error).toMatchObject({
      code: -32800,
      message: 'The task was cancelled.',
    })
    expect((await client.ask('tasks/cancel', { taskId })).error).toMatchObject({
      code: -32602,
      message: "Cannot cancel task: already in terminal status 'cancelled'",
    })
  })

  it('tells of its status and its progress for as long as it goes on', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const client = await connect(ELICITS)
    await client.listen()
    const made = await task(client, 'deploy', { _meta: { progressToken: 'p' } })
    const { taskId } = made.result.task
    const run = await w.run()
    const progress = (done: number) =>
      w.set(run, () => w.backend.set(run.runKey, { progress: { message: 'Charge', done, total: 3 } }))
    for (const done of [2, 1, 3]) {
      await progress(done)
      await client.found(({ params }) => params?.message?.includes(`(${done} of 3)`))
    }
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    const isStatus = (status: string) => (message: Any) =>
      message.method === 'notifications/tasks/status' && message.params.status === status
    const asked = await client.found(isStatus('input_required'))
    expect(asked.message.params).toMatchObject({ taskId, createdAt: expect.any(String), ttl: null })
    expect(asked.message.params).not.toHaveProperty('_meta')
    await w.set(run, () => w.backend.set(run.runKey, { state: 'failed', error: { code: 'E', message: 'm' } }))
    await client.found(isStatus('failed'))
    const told = client.received.filter(({ message }) => message.method === 'notifications/progress')
    const values = told.map(({ message }) => message.params.progress)
    expect(values.length).toBeGreaterThanOrEqual(3)
    expect(values).toEqual([...new Set(values)].sort((a, b) => a - b))
    for (const { message } of told)
      expect(message.params).toMatchObject({ progressToken: 'p', _meta: { [RELATED]: { taskId } } })
    const last = client.received.at(-1)
    expect(last?.message.method).toBe('notifications/tasks/status')
  })
})

describe('a call', () => {
  it('an accepted task call returns CreateTaskResult, whatever happens to the start', async () => {
    await open()
    const client = await WIRES.http()
    for (const start of ['refused', 'unknown_and_nothing_happened', 'unknown_but_happened'] as const) {
      w.backend.script('start', start)
      const { result } = await task(client)
      expect(result.task.status).toBe('working')
    }
    w.backend.script('start', 'refused')
    const { taskId } = (await task(client)).result.task
    expect((await client.ask('tasks/get', { taskId })).result).toMatchObject({
      status: 'failed',
      statusMessage: 'The fake engine refuses to start.',
    })
    expect((await client.ask('tasks/result', { taskId })).result).toMatchObject({
      isError: true,
      content: [{ text: 'The fake engine refuses to start.' }, {}],
    })
  })

  it('that is not accepted is an error of the protocol, since its client expects a task', async () => {
    const inputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    await open({ tools: [{ name: 'order', inputSchema }] })
    const client = await WIRES.http()
    expect((await task(client)).error).toMatchObject({ code: -32602, message: expect.stringContaining('/n') })
    expect((await task(client, 'nothing')).error).toMatchObject({
      code: -32602,
      message: 'Unknown tool: nothing',
    })
    expect((await task(client, 'order', { task: { ttl: -1 } })).error.code).toBe(-32602)
    expect(w.backend.executions).toEqual([])
  })

  it('a tool that requires tasks, called without: -32601; one that forbids them, called with: -32601', async () => {
    await open({ tools: [{ name: 'order', taskSupport: 'required' }] })
    const client = await WIRES.http()
    expect((await client.ask('tools/call', { name: 'order' })).error.code).toBe(-32601)
    expect((await task(client, 'task_status')).error.code).toBe(-32601)
    await open({ tools: [{ name: 'greet' }], capabilities: { execution: 'call' } })
    const other = await WIRES.http()
    expect(other.hello.capabilities).toEqual({ tools: {} })
    expect((await task(other, 'greet')).error.code).toBe(-32601)
    expect((await other.ask('tools/call', { name: 'greet', arguments: {} })).result.isError).toBeUndefined()
  })

  it('of a revision without tasks ignores the parameter and answers normally', async () => {
    await open({ tools: [{ name: 'order', holdMs: 0 }] })
    const client = await WIRES.http({ version: '2025-06-18' })
    expect((await task(client)).result.content[0].text).toContain('task_status')
  })

  it('that must be confirmed is asked on its own stream first; declined, nothing starts', async () => {
    await open({ tools: [{ name: 'drop', confirm: { message: 'Really?' } }] })
    const client = await WIRES.http(ELICITS)
    const answers = [{ action: 'accept', content: { confirm: true } }, { action: 'decline' }]
    for (const [index, result] of answers.entries()) {
      const sent = client.send('tools/call', { name: 'drop', arguments: {}, task: {} })
      const { message } = await client.found(
        (each, stream) => isQuestion(each) && each.params.message === 'Really?' && stream === sent.id,
      )
      expect(message.params).not.toHaveProperty('_meta')
      await client.respond(message.id, { result })
      const answer = await sent.answer
      if (index === 0) expect(answer.result.task.status).toBe('working')
      else expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining('declined') })
    }
    expect(w.backend.executions).toHaveLength(1)
    const mute = await WIRES.http()
    expect((await task(mute, 'drop')).error.message).toContain('did not declare elicitation')
  })

  it('that waits for an answer is one of as many as may be open', async () => {
    const limits = { maxOpenTasks: 1, sweepMs: 1e12 }
    await open({ tools: [{ name: 'drop', confirm: { message: 'Really?' } }], server: { limits } })
    const client = await WIRES.http(ELICITS)
    const sent = client.send('tools/call', { name: 'drop', arguments: {} })
    const { message } = await client.found(isQuestion)
    const { result } = await client.ask('tools/call', { name: 'drop', arguments: {} })
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('1 calls of this') }],
    })
    await client.respond(message.id, { result: { action: 'decline' } })
    expect((await sent.answer).result.content[0].text).toContain('declined')
    const again = client.send('tools/call', { name: 'drop', arguments: {} })
    const second = await client.found((each, stream) => isQuestion(each) && stream === again.id)
    await client.respond(second.message.id, { result: { action: 'decline' } })
    await again.answer
  })

  it('whose run asks while too many wait is answered with how to go on', async () => {
    const tools = [
      { name: 'drop', confirm: { message: 'Really?' } },
      { name: 'order', humanInput: 'elicitation' as const },
    ]
    await open({ tools, server: { limits: { maxOpenTasks: 1, sweepMs: 1e12 } } })
    const client = await WIRES.http(ELICITS)
    const held = client.send('tools/call', { name: 'order', arguments: {} })
    const run = await w.run()
    const asking = client.send('tools/call', { name: 'drop', arguments: {} })
    const { message } = await client.found(isQuestion)
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    expect((await held.answer).result.content[0].text).toMatch(/^Task tsk_.*Waits for/)
    await client.respond(message.id, { result: { action: 'decline' } })
    await asking.answer
  })

  it('2025 tasks are cancelled by tasks/cancel, not by notifications/cancelled, a closed connection or DELETE', async () => {
    await open()
    const client = await WIRES.http()
    const sent = client.send('tools/call', { name: 'order', arguments: {}, task: {} })
    const { taskId } = (await sent.answer).result.task
    await client.notify('notifications/cancelled', { requestId: sent.id })
    const leaving = new AbortController()
    client.send('tasks/result', { taskId }, leaving.signal).answer.catch(() => undefined)
    leaving.abort()
    await client.close()
    const again = await WIRES.http()
    expect((await again.ask('tasks/get', { taskId })).result.status).toBe('working')
    expect((await w.run()).cancels).toEqual([])
  })
})

describe('tasks/result', () => {
  it('blocks until the end, then returns exactly what the call would have returned, or the same JSON-RPC error', async () => {
    await open()
    const client = await WIRES.http()
    for (const [index, state] of (['failed', 'timed_out', 'lost', 'cancelled'] as const).entries()) {
      const { taskId } = (await task(client)).result.task
      const run = await w.run(index)
      let over = false
      const waiting = client.ask('tasks/result', { taskId }).finally(() => {
        over = true
      })
      await w.clock.advance(30_000)
      expect(over).toBe(false)
      const error = { code: 'Payment.Declined', message: 'no money', step: 'Pay' }
      await w.set(run, () => w.backend.set(run.runKey, { state, error }))
      await w.clock.advance(5_000)
      const answer = await waiting
      const status = (await client.ask('tasks/get', { taskId })).result
      if (state === 'lost') expect([answer.error.code, status.status]).toEqual([-32603, 'failed'])
      else if (state === 'cancelled')
        expect([answer.error.code, status.status]).toEqual([-32800, 'cancelled'])
      else {
        expect(answer.result).toMatchObject({ isError: true, _meta: { [RELATED]: { taskId } } })
        expect(answer.result.content[0].text).toContain('at step "Pay"')
        expect(status).toMatchObject({ status: 'failed', statusMessage: expect.stringContaining('"Pay"') })
      }
      expect(await client.ask('tasks/result', { taskId })).toMatchObject({
        ...(answer.result && { result: answer.result }),
        ...(answer.error && { error: answer.error }),
      })
    }
  })

  it('says that the task goes on when the server closes, and never that it ended', async () => {
    await open()
    const client = await WIRES.http()
    const { taskId } = (await task(client)).result.task
    const waiting = client.ask('tasks/result', { taskId })
    await w.clock.advance(2_000)
    await w.close()
    ends.pop()
    expect((await waiting).error).toMatchObject({ code: -32603, data: { reason: 'unavailable' } })
  })

  it('is forgotten by its session with its end, so that a session does not grow with every task', async () => {
    await open()
    const client = await httpLegacy(w.http.url)
    const calls = async () => (await w.store.sessions.get(client.sessionId ?? ''))?.calls
    const [first, second] = [await task(client), await task(client)].map(({ result }) => result.task.taskId)
    expect(await calls()).toHaveLength(2)
    await client.ask('tasks/cancel', { taskId: first })
    expect(await calls()).toMatchObject([{ taskId: second }])
    const waiting = client.ask('tasks/result', { taskId: second })
    const run = await w.run(1)
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded' }))
    await w.clock.advance(5_000)
    await waiting
    expect(await calls()).toEqual([])
  })

  it('leaves with its id, whether or not its session can be written', async () => {
    await open()
    const client = await httpLegacy(w.http.url)
    const tooLarge = new RunbridgeError('too_large', 'The session has 400 KB.')
    vi.spyOn(w.store.sessions, 'update').mockRejectedValueOnce(tooLarge)
    const { taskId } = (await task(client)).result.task
    expect((await client.ask('tasks/get', { taskId })).result.status).toBe('working')
  })

  it('is told to have ended, also where its end could not be read at first', async () => {
    await open()
    const client = await httpLegacy(w.http.url)
    await client.listen()
    const { taskId } = (await task(client)).result.task
    const run = await w.run()
    // The follower sees the end, and the look for the client fails.
    const { get } = w.server.service
    vi.spyOn(w.server.service, 'get').mockImplementation(async (key) => {
      const seen = await get(key)
      if (seen.record.state !== 'succeeded') return seen
      vi.mocked(w.server.service.get).mockRestore()
      throw new RunbridgeError('unavailable', 'The store is away.')
    })
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded' }))
    await w.clock.advance(10_000)
    const { message } = await client.found(({ params }) => params?.status === 'completed')
    expect(message.params.taskId).toBe(taskId)
  })

  it('takes an answer in another process, and one that came after a restart', async () => {
    const { createServer } = await import('../create-server.js')
    const { serveHttp } = await import('../http.js')
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const client = await WIRES.http(ELICITS)
    const { taskId } = (await task(client, 'deploy')).result.task
    const run = await w.run()
    const waiting = client.send('tasks/result', { taskId })
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    const { message } = await client.found(isQuestion)
    const { store, clock, tools } = w
    const server = createServer({ store, clock, tools, requestStateKey: new Uint8Array(32).fill(7) })
    const other = await serveHttp({ server })
    ends.push(() => other.close())
    const there = await httpLegacy(other.url, { sessionId: client.sessionId as string })
    await there.respond(message.id, ACCEPT)
    await until(() => run.answers.has('a'))
    expect((await there.ask('tasks/get', { taskId })).result.status).toBe('working')
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'done' }))
    await w.clock.advance(5_000)
    expect((await waiting.answer).result.content[0].text).toBe('done')
  })

  it('asks again, under another id, when an answer does not fit, and not for ever', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const client = await WIRES.http(ELICITS)
    const { taskId } = (await task(client, 'deploy')).result.task
    const run = await w.run()
    const waiting = client.send('tasks/result', { taskId })
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    const ids = new Set<string>()
    for (const result of [{ action: 'accept', content: {} }, { action: 'perhaps' }, { action: 'accept' }]) {
      const { message } = await client.found((each) => isQuestion(each) && !ids.has(each.id))
      ids.add(message.id)
      await client.respond(message.id, { result })
    }
    await w.clock.advance(20_000)
    expect(client.received.filter(({ message }) => isQuestion(message))).toHaveLength(3)
    expect(run.answers.size).toBe(0)
    expect((await client.ask('tasks/get', { taskId })).result.status).toBe('input_required')
    void waiting
  })

  it('a question that is dismissed is not put again by the same request; one that closed is taken back', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const client = await WIRES.http(ELICITS)
    const { taskId } = (await task(client, 'deploy')).result.task
    const run = await w.run()
    client.send('tasks/result', { taskId })
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    const { message } = await client.found(isQuestion)
    await client.respond(message.id, { result: { action: 'cancel' } })
    await until(async () => (await w.store.get({ owner: 'local', taskId }))?.inputs.length === 2)
    await w.clock.advance(20_000)
    expect(client.received.filter((each) => isQuestion(each.message))).toHaveLength(1)
    const second = client.send('tasks/result', { taskId })
    const again = await client.found((each, stream) => isQuestion(each) && stream === second.id)
    await w.set(run, () => w.backend.closeGate(run.runKey, 'a'))
    await w.clock.advance(5_000)
    const back = await client.found(({ method }) => method === 'notifications/cancelled')
    expect(back).toMatchObject({ stream: second.id, message: { params: { requestId: again.message.id } } })
    // "All requests, notifications, and responses related to a task" (associating task-related messages).
    expect(back.message.params._meta).toEqual({ [RELATED]: { taskId } })
  })

  it('an elicitation only to a client that declared it', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation', unanswerable: 'show' }] })
    const client = await WIRES.http()
    await client.listen()
    const { taskId } = (await task(client, 'deploy')).result.task
    const run = await w.run()
    client.send('tasks/result', { taskId })
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    await w.clock.advance(30_000)
    expect(client.received.some(({ message }) => isQuestion(message))).toBe(false)
    expect((await client.ask('tasks/get', { taskId })).result).toMatchObject({
      status: 'working',
      statusMessage: expect.stringContaining('somebody has to answer'),
    })
  })
})

describe('who sees what', () => {
  it('requestors that can not be told apart are not offered tasks/list', async () => {
    await open()
    const client = await WIRES.http()
    expect(client.hello.capabilities.tasks).not.toHaveProperty('list')
    expect((await client.ask('tasks/list')).error.code).toBe(-32601)
  })

  it('invalid cursor -32602; nextCursor whenever there is more; whatever get finds, list lists', async () => {
    const { auth, tokens } = callers('alice', 'bob')
    await open({ http: { auth } })
    const alice = await WIRES.http({ token: tokens.alice as string })
    const bob = await WIRES.http({ token: tokens.bob as string })
    expect(alice.hello.capabilities.tasks.list).toEqual({})
    const made = new Set<string>()
    for (let n = 0; n < 60; n += 1) made.add((await task(alice)).result.task.taskId)
    await task(bob)
    await send(
      w.http.url,
      'tools/call',
      { name: 'order', arguments: {} },
      {
        tasks: true,
        headers: { authorization: `Bearer ${tokens.alice}` },
      },
    )
    const listed: string[] = []
    let cursor: string | undefined
    do {
      const { result } = await alice.ask('tasks/list', cursor === undefined ? {} : { cursor })
      for (const each of result.tasks) {
        listed.push(each.taskId)
        expect(each).toMatchObject({ status: 'working', createdAt: expect.any(String), ttl: null })
        expect(each).not.toHaveProperty('_meta')
      }
      cursor = result.nextCursor
    } while (cursor !== undefined)
    expect(listed.sort()).toEqual([...made].sort())
    for (const bad of ['x', 'bm90IG91cnM']) {
      expect((await alice.ask('tasks/list', { cursor: bad })).error.code).toBe(-32602)
    }
  })

  it('unknown, foreign and expired ids, and those of other forms get the same answer', async () => {
    const { auth, tokens } = callers('alice', 'bob')
    await open({ http: { auth } })
    const before = await WIRES.http({ token: tokens.alice as string })
    const bob = await WIRES.http({ token: tokens.bob as string })
    const foreign = (await task(bob)).result.task.taskId
    const mine = (await task(before)).result.task.taskId
    const run = await w.run(1)
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded' }))
    await w.clock.advance(86_400_001)
    const alice = await WIRES.http({ token: tokens.alice as string })
    const modern = await send(
      w.http.url,
      'tools/call',
      { name: 'order', arguments: {} },
      {
        tasks: true,
        headers: { authorization: `Bearer ${tokens.alice}` },
      },
    )
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/delete']) {
      for (const taskId of ['tsk_unknown', foreign, mine, modern.result.taskId]) {
        expect((await alice.ask(method, { taskId })).error).toEqual({
          code: -32602,
          message: 'Failed to retrieve task: Task not found',
          data: { reason: 'task_not_found' },
        })
      }
    }
  })

  it('related-task metadata in requests is ignored', async () => {
    await open()
    const client = await WIRES.http()
    const { taskId } = (await task(client)).result.task
    const params = { taskId, _meta: { [RELATED]: { taskId: 'tsk_other' } } }
    const { result } = await client.ask('tasks/get', params)
    expect(result.taskId).toBe(taskId)
    expect(result).not.toHaveProperty('_meta')
  })
})
