import { afterEach, describe, expect, it } from 'vitest'
import { createServer } from '../create-server.js'
import { serveHttp } from '../http.js'
import { httpLegacy, type LegacyClient, type LegacyOptions, stdioLegacy } from '../testing/legacy-client.js'
import { until, type World, type WorldOptions, world } from '../testing/world.js'
import { callers } from './testing/callers.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
type Any = any

const TASK = 'modelcontextprotocol.io/task'
const RELATED = 'modelcontextprotocol.io/related-task'
const related = (taskId = 'mine-1') => ({ _meta: { [RELATED]: { taskId } } })
const ELICITS = { capabilities: { elicitation: {} } }
const ACCEPT = { result: { action: 'accept', content: { approve: true } } }
const isQuestion = (message: Any) => message.method === 'elicitation/create'

let w: World
let tokens: Readonly<Record<string, string>>
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A server whose callers it can tell apart. */
async function open(options: WorldOptions = {}): Promise<void> {
  const known = callers('alice', 'bob')
  tokens = known.tokens
  w = await world({ http: { auth: known.auth }, ...options })
  ends.push(() => w.close())
}
const connect = (options: LegacyOptions & { readonly as?: string } = {}) =>
  httpLegacy(w.http.url, { token: tokens[options.as ?? 'alice'] as string, ...options })

/** Calls a tool as a task of this client's own naming. */
function call(client: LegacyClient, metadata: object = {}, name = 'order', meta: object = {}) {
  const _meta = { [TASK]: { taskId: 'mine-1', ...metadata }, ...meta }
  return client.send('tools/call', { name, arguments: {}, _meta })
}
const isCreated = (message: Any) => message.method === 'notifications/tasks/created'
const created = (client: LegacyClient, taskId = 'mine-1') =>
  client.found((message) => isCreated(message) && message.params._meta[RELATED].taskId === taskId)
const get = async (client: LegacyClient, taskId = 'mine-1') =>
  (await client.ask('tasks/get', { taskId, ...related(taskId) })).result
async function succeed(index = 0, output: Any = 'done'): Promise<void> {
  const run = await w.run(index)
  await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output }))
  await w.clock.advance(5_000)
}
/** Another process on the same store. */
async function another(): Promise<string> {
  const { store, clock, tools } = w
  const server = createServer({ store, clock, tools, requestStateKey: new Uint8Array(32).fill(7) })
  const http = await serveHttp({ server, auth: callersAgain() })
  ends.push(() => http.close())
  return http.url
}
let callersAgain: () => NonNullable<Parameters<typeof serveHttp>[0]['auth']>

describe('3. protocol messages', () => {
  it('SEP-1686 3.1: a call with a task id in its metadata makes that task', async () => {
    await open()
    const client = await connect()
    const sent = call(client, { keepAlive: 600_000 })
    await created(client)
    expect(await get(client)).toMatchObject({ taskId: 'mine-1', keepAlive: 600_000 })
    await succeed()
    expect((await sent.answer).result.content[0].text).toBe('done')
  })

  it('SEP-1686 3.2: tasks/get answers with the task', async () => {
    await open()
    const client = await connect()
    const start = w.backend.hold('start')
    call(client)
    await created(client)
    const submitted = await get(client)
    start.release()
    expect(submitted).toEqual({
      taskId: 'mine-1',
      status: 'submitted',
      keepAlive: 86_400_000,
      pollFrequency: expect.any(Number),
      ...related(),
    })
  })

  it('SEP-1686 3.3, 4.6.3: tasks/result answers with the result of the call, again and again', async () => {
    await open()
    const client = await connect()
    const sent = call(client)
    await created(client)
    await succeed(0, { total: 7 })
    const original = (await sent.answer).result
    for (let n = 0; n < 2; n += 1) {
      const { result } = await client.ask('tasks/result', { taskId: 'mine-1', ...related() })
      expect(result).toEqual(original)
      expect(result).toMatchObject({ structuredContent: { total: 7 }, ...related() })
    }
  })

  it('SEP-1686 3.4: the creation is told before the answer, as soon as the task can be asked for', async () => {
    await open()
    const client = await connect()
    const start = w.backend.hold('start')
    const sent = call(client)
    const { message, stream } = await created(client)
    expect(message).toEqual({ jsonrpc: '2.0', method: 'notifications/tasks/created', params: related() })
    expect(stream).toBe(sent.id)
    expect((await get(client)).status).toBe('submitted')
    start.release()
    await succeed()
    await sent.answer
    const order = client.received.filter(({ message: each }) => isCreated(each) || each.id === sent.id)
    expect(order.map(({ message: each }) => isCreated(each))).toEqual([true, false])
  })

  it('SEP-1686 3.5: tasks/list answers with the tasks, page by page', async () => {
    await open()
    const client = await connect()
    call(client)
    await created(client)
    const { result } = await client.ask('tasks/list', {})
    expect(result.tasks).toEqual([
      expect.objectContaining({ taskId: 'mine-1', keepAlive: 86_400_000, pollFrequency: expect.any(Number) }),
    ])
    expect(result).not.toHaveProperty('nextCursor')
  })

  it('SEP-1686 3.6: tasks/delete removes an ended task', async () => {
    await open()
    const client = await connect()
    const sent = call(client)
    await created(client)
    await succeed()
    await sent.answer
    expect((await client.ask('tasks/delete', { taskId: 'mine-1', ...related() })).result).toEqual(related())
    expect((await client.ask('tasks/get', { taskId: 'mine-1' })).error.message).toContain('Task not found')
  })
})

describe('4. behaviour', () => {
  it('SEP-1686 4.1.1: metadata on what is no task here is ignored, and the request answered normally', async () => {
    await open({ tools: [{ name: 'greet' }], capabilities: { execution: 'call' } })
    const client = await connect()
    const sent = call(client, {}, 'greet')
    expect((await sent.answer).result.isError).toBeUndefined()
    expect(client.received.some(({ message }) => isCreated(message))).toBe(false)
    expect((await client.ask('tasks/get', { taskId: 'mine-1' })).error.code).toBe(-32602)
    expect(
      (await client.ask('tools/list', { _meta: { [TASK]: { taskId: 'mine-1' } } })).result.tools,
    ).toBeDefined()
  })

  it('SEP-1686 4.1.1: a store without sessions has no tasks of this form, and answers normally', async () => {
    const { memory } = await import('@runbridge/stores/memory')
    const { sessions: _, ...store } = memory()
    w = await world({ server: { store }, tools: [{ name: 'order', holdMs: 0 }] })
    ends.push(() => w.close())
    const client = await httpLegacy(w.http.url)
    const { result } = await call(client).answer
    expect(result.content[0].text).toContain('task_status')
    expect(client.received.some(({ message }) => isCreated(message))).toBe(false)
  })

  it('SEP-1686 4.1.2: tools choose whether they are tasks; one that must be, called without: -32601', async () => {
    await open({ tools: [{ name: 'order', taskSupport: 'required' }] })
    const client = await connect()
    expect((await client.ask('tools/call', { name: 'order' })).error.code).toBe(-32601)
    call(client)
    await created(client)
  })

  it('SEP-1686 4.2.1: a task id is a string', async () => {
    await open()
    const client = await connect()
    for (const taskId of [7, null, '', { id: 1 }])
      expect((await call(client, { taskId }).answer).error.code).toBe(-32602)
    expect(w.backend.executions).toEqual([])
  })

  it('SEP-1686 4.2.2, 4.2.3: an id is unique among the tasks of its owner, and refused when it is taken, also after a restart', async () => {
    const known = callers('alice', 'bob')
    callersAgain = () => known.auth
    await open({ http: { auth: known.auth } })
    tokens = known.tokens
    const client = await connect()
    call(client)
    await created(client)
    const url = await another()
    for (const again of [client, await httpLegacy(url, { token: tokens.alice as string })]) {
      expect((await call(again).answer).error).toMatchObject({
        code: -32602,
        message: 'Task ID already exists: mine-1',
      })
    }
    const bob = await connect({ as: 'bob' })
    call(bob)
    await created(bob)
    expect(w.backend.executions).toHaveLength(2)
  })

  it('SEP-1686 4.3: submitted, working, completed, and never back', async () => {
    await open()
    const client = await connect()
    call(client)
    await created(client)
    const run = await w.run()
    const now = async (state: 'queued' | 'running') => {
      await w.set(run, () => w.backend.set(run.runKey, { state }))
      return (await get(client)).status
    }
    expect([await now('queued'), await now('running'), await now('queued')]).toEqual([
      'submitted',
      'working',
      'working',
    ])
    await succeed()
    expect((await get(client)).status).toBe('completed')
  })

  it('SEP-1686 4.3.4: a start that can not be settled is unknown, and its call -32603', async () => {
    await open({ capabilities: { start: 'blind' } })
    const client = await connect()
    w.backend.script('start', 'unknown_and_nothing_happened')
    const sent = call(client)
    await created(client)
    await until(() => w.backend.callsOf('start').length > 0)
    await w.clock.advance(60_000)
    expect((await sent.answer).error.code).toBe(-32603)
    expect(await get(client)).toMatchObject({
      status: 'unknown',
      error: expect.stringContaining('may have started'),
    })
  })

  it('SEP-1686 4.4.1, 4.4.2: input_required before the question is sent, which belongs to the task', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const client = await connect(ELICITS)
    const sent = call(client, {}, 'deploy')
    await created(client)
    const run = await w.run()
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    const { message, stream } = await client.found(isQuestion)
    expect(stream).toBe(sent.id)
    expect(message.params).toMatchObject({ message: 'Approve a?', ...related() })
    expect((await get(client)).status).toBe('input_required')
  })

  it('SEP-1686 4.4.3, 4.4.4: input_required until all are answered, then back to working', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const client = await connect(ELICITS)
    const sent = call(client, {}, 'deploy')
    await created(client)
    const run = await w.run()
    await w.set(run, () => {
      w.backend.openGate(run.runKey, { id: 'a' })
      w.backend.openGate(run.runKey, { id: 'b' })
    })
    for (const [id, status] of [
      ['a', 'input_required'],
      ['b', 'working'],
    ] as const) {
      const { message } = await client.found(
        (each) => isQuestion(each) && each.params.message.includes(`${id}?`),
      )
      await client.respond(message.id, ACCEPT)
      await until(() => run.answers.has(id))
      expect((await get(client)).status).toBe(status)
    }
    await succeed()
    expect((await sent.answer).result.content[0].text).toBe('done')
  })

  it('SEP-1686 4.4: asked outside its call once nobody reads that any more', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const client = await connect(ELICITS)
    const leaving = new AbortController()
    const _meta = { [TASK]: { taskId: 'mine-1' } }
    client.send('tools/call', { name: 'deploy', arguments: {}, _meta }, leaving.signal)
    await created(client)
    await client.listen()
    leaving.abort()
    const run = await w.run()
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    await until(async () => (await get(client)).status === 'input_required')
    const outside = await until(async () => {
      await w.clock.advance(1_000)
      return client.received.find(({ message }) => isQuestion(message))
    })
    expect(outside).toMatchObject({ stream: 'session', message: { params: related() } })
    await client.respond(outside.message.id, ACCEPT)
    await until(() => run.answers.has('a'))
    expect(run.cancels).toEqual([])
  })

  it('SEP-1686 4.5.1, 4.5.2: keepAlive is what it really is: within the tool’s own bounds', async () => {
    await open({ tools: [{ name: 'order', retainMs: 3_600_000 }] })
    const client = await connect()
    for (const [taskId, keepAlive, kept] of [
      ['a', 600_000, 600_000],
      ['b', 9e9, 3_600_000],
      ['c', 1, 120_000],
      ['d', undefined, 3_600_000],
    ] as const) {
      call(client, { taskId, ...(keepAlive !== undefined && { keepAlive }) })
      await created(client, taskId)
      expect((await get(client, taskId)).keepAlive).toBe(kept)
    }
  })

  it('SEP-1686 4.5.3: an ended task goes when its keepAlive is over, a running one never', async () => {
    await open()
    const client = await connect()
    const sent = call(client, { keepAlive: 600_000 })
    await created(client)
    await w.clock.advance(1_200_000)
    expect((await get(client)).taskId).toBe('mine-1')
    await succeed()
    await sent.answer
    await w.clock.advance(590_000)
    expect((await get(client)).status).toBe('completed')
    await w.clock.advance(20_000)
    expect((await client.ask('tasks/get', { taskId: 'mine-1' })).error).toMatchObject({
      code: -32602,
      message: 'Failed to retrieve task: Task not found',
    })
  })

  it('SEP-1686 4.5.4: pollFrequency grows with the age of the run', async () => {
    await open()
    const client = await connect()
    call(client)
    await created(client)
    const first = (await get(client)).pollFrequency
    await w.clock.advance(600_000)
    expect((await get(client)).pollFrequency).toBeGreaterThan(first)
  })

  it('SEP-1686 4.6.1, 4.6.2: tasks/result only when completed', async () => {
    await open()
    const client = await connect()
    const start = w.backend.hold('start')
    call(client)
    await created(client)
    const result = async () => (await client.ask('tasks/result', { taskId: 'mine-1' })).error
    const words = (status: string) => `Cannot retrieve result: Task status is '${status}', not 'completed'`
    expect(await result()).toMatchObject({ code: -32602, message: words('submitted') })
    start.release()
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'running' }))
    expect(await result()).toMatchObject({ code: -32602, message: words('working') })
    await w.set(run, () => w.backend.set(run.runKey, { state: 'lost' }))
    expect(await result()).toMatchObject({ code: -32602, message: words('failed') })
  })

  it('SEP-1686 4.7.1, 4.7.2: every request, notification and response of a task names it, under the key of this form alone', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const client = await connect(ELICITS)
    await client.listen()
    const sent = call(client, {}, 'deploy', { progressToken: 'p' })
    await created(client)
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { progress: { message: 'Build', done: 1 } }))
    await client.found(({ method }) => method === 'notifications/progress')
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    const { message } = await client.found(isQuestion)
    await client.respond(message.id, ACCEPT)
    await until(() => run.answers.has('a'))
    await get(client)
    await succeed()
    await sent.answer
    await client.ask('tasks/result', { taskId: 'mine-1' })
    await client.ask('tasks/delete', { taskId: 'mine-1' })
    const ofTask = client.received.map(({ message: each }) => each).filter(({ id }) => id !== 1)
    expect(ofTask.length).toBeGreaterThanOrEqual(7)
    for (const each of ofTask) expect(each.params ?? each.result).toMatchObject(related())
    expect(JSON.stringify(ofTask)).not.toContain('io.modelcontextprotocol/related-task')
    const progress = ofTask.filter(({ method }) => method === 'notifications/progress')
    for (const each of progress) expect(each.params.progressToken).toBe('p')
  })

  it('SEP-1686 4.8.1, 4.8.2, 4.8.4: notifications/cancelled for the original request cancels the task, which gets no answer and goes after its keepAlive', async () => {
    await open()
    const client = await connect()
    const sent = call(client, { keepAlive: 120_000 })
    await created(client)
    const run = await w.run()
    await client.notify('notifications/cancelled', { requestId: sent.id, reason: 'enough' })
    expect(run.cancels).toHaveLength(1)
    expect(await sent.answer).toBeUndefined()
    await w.clock.advance(2_000)
    expect((await get(client)).status).toBe('cancelled')
    await w.clock.advance(125_000)
    expect((await client.ask('tasks/get', { taskId: 'mine-1' })).error.code).toBe(-32602)
  })

  it('SEP-1686 4.8.1: and by nothing else: not another request’s, not a closed connection, an ended session or a shutdown', async () => {
    await open()
    const client = await connect()
    const leaving = new AbortController()
    const _meta = { [TASK]: { taskId: 'mine-1' } }
    const sent = client.send('tools/call', { name: 'order', arguments: {}, _meta }, leaving.signal)
    await created(client)
    const run = await w.run()
    await client.notify('notifications/cancelled', { requestId: sent.id + 100 })
    expect((await client.ask('tasks/cancel', { taskId: 'mine-1' })).error.code).toBe(-32602)
    leaving.abort()
    await client.close()
    await w.clock.advance(10_000)
    const again = await connect()
    expect((await get(again)).status).not.toBe('cancelled')
    call(again, { taskId: 'mine-2' })
    await created(again, 'mine-2')
    await w.close()
    ends.pop()
    expect([run.cancels, (await w.run(1)).cancels]).toEqual([[], []])
  })

  it('SEP-1686 4.8.1: a cancel that arrives at another process counts, and the call is not answered there either', async () => {
    const known = callers('alice', 'bob')
    callersAgain = () => known.auth
    await open({ http: { auth: known.auth } })
    tokens = known.tokens
    const client = await connect()
    const sent = call(client)
    await created(client)
    const there = await httpLegacy(await another(), {
      token: tokens.alice as string,
      sessionId: client.sessionId as string,
    })
    await there.notify('notifications/cancelled', { requestId: sent.id })
    expect((await w.run()).cancels).toHaveLength(1)
    await w.clock.advance(10_000)
    expect(await sent.answer).toBeUndefined()
  })

  it('SEP-1686 4.8.3: a cancel after the end changes nothing; a run that finished first keeps its result', async () => {
    await open()
    const client = await connect()
    const first = call(client)
    await created(client)
    await succeed()
    await first.answer
    await client.notify('notifications/cancelled', { requestId: first.id })
    expect((await get(client)).status).toBe('completed')
    const second = call(client, { taskId: 'mine-2' })
    await created(client, 'mine-2')
    await w.run(1)
    w.backend.script('cancel', 'sent_in_vain')
    await client.notify('notifications/cancelled', { requestId: second.id })
    await succeed(1)
    expect((await get(client, 'mine-2')).status).toBe('completed')
    expect((await client.ask('tasks/result', { taskId: 'mine-2' })).result.content[0].text).toBe('done')
  })

  it('SEP-1686 4.9.1, 4.9.2, 4.9.4: pages, a cursor whenever there is more, and whatever get finds is listed', async () => {
    await open()
    const client = await connect()
    const ids = Array.from({ length: 55 }, (_, n) => `task-${n}`)
    for (const [n, taskId] of ids.entries()) {
      if (n % 2) await client.ask('tools/call', { name: 'order', task: {} })
      const sent = call(client, { taskId })
      await created(client, taskId)
      const run = await until(() => w.backend.executions.find((each, at) => at >= n && !ended.has(each)))
      ended.add(run)
      void sent
      if (w.backend.executions.length > 20) {
        for (const each of w.backend.executions)
          await w.set(each, () => w.backend.set(each.runKey, { state: 'succeeded' }))
        await w.clock.advance(5_000)
      }
    }
    const listed: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const { result } = await client.ask('tasks/list', cursor === undefined ? {} : { cursor })
      listed.push(...result.tasks.map((each: Any) => each.taskId))
      cursor = result.nextCursor
      pages += 1
    } while (cursor !== undefined)
    expect(pages).toBeGreaterThan(1)
    expect(listed.filter((id) => id.startsWith('task-')).sort()).toEqual([...ids].sort())
    expect(new Set(listed).size).toBe(listed.length)
  })
  const ended = new Set<object>()

  it('SEP-1686 4.10.1, 4.10.3: only terminal tasks are deleted, else -32602', async () => {
    await open()
    const client = await connect()
    call(client)
    await created(client)
    expect((await client.ask('tasks/delete', { taskId: 'mine-1' })).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('Only a task that has ended'),
    })
    expect((await get(client)).taskId).toBe('mine-1')
  })

  it('SEP-1686 4.10.2: a deleted task is gone with all that belonged to it; its id starts anew', async () => {
    await open()
    const client = await connect()
    const first = call(client)
    await created(client)
    await succeed(0, 'first')
    await first.answer
    await client.ask('tasks/delete', { taskId: 'mine-1' })
    for (const method of ['tasks/get', 'tasks/result', 'tasks/delete'])
      expect((await client.ask(method, { taskId: 'mine-1' })).error.code).toBe(-32602)
    expect((await client.ask('tasks/list')).result.tasks).toEqual([])
    const second = call(client)
    await until(() => client.received.filter(({ message }) => isCreated(message)).length === 2)
    expect(['submitted', 'working']).toContain((await get(client)).status)
    await succeed(1, 'second')
    expect((await second.answer).result.content[0].text).toBe('second')
  })
})

describe('7. errors', () => {
  it('SEP-1686 7.1.1: an unknown task id is -32602, in words', async () => {
    await open()
    const client = await connect()
    for (const method of ['tasks/get', 'tasks/result', 'tasks/delete']) {
      expect((await client.ask(method, { taskId: 'nobody' })).error).toMatchObject({
        code: -32602,
        message: 'Failed to retrieve task: Task not found',
      })
      expect((await client.ask(method, {})).error).toMatchObject({ code: -32602 })
    }
  })

  it('SEP-1686 7.1.2: an unknown cursor is -32602', async () => {
    await open()
    const client = await connect()
    for (const cursor of ['x', 7, ''])
      expect((await client.ask('tasks/list', { cursor })).error).toMatchObject({ code: -32602 })
  })

  it('SEP-1686 7.1.3: an id that is in use for another task is -32602, in words', async () => {
    await open()
    const client = await connect()
    const { result } = await client.ask('tools/call', { name: 'order', task: {} })
    const { taskId } = result.task
    expect((await call(client, { taskId }).answer).error).toMatchObject({
      code: -32602,
      message: `Task ID already exists: ${taskId}`,
    })
  })

  it('SEP-1686 7.1.4: a result before the end is -32602, in words', async () => {
    await open()
    const client = await connect()
    call(client)
    await created(client)
    expect((await client.ask('tasks/result', { taskId: 'mine-1' })).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^Cannot retrieve result: Task status is '\w+', not 'completed'$/),
    })
  })

  it('SEP-1686 7.1.5, 7.1.6: an internal error is -32603 and says nothing internal', async () => {
    await open()
    const client = await connect()
    call(client)
    await created(client)
    const broken = w.store.get
    w.store.get = async () => {
      throw new Error('password in /etc/secret')
    }
    const { error } = await client.ask('tasks/get', { taskId: 'mine-1' })
    w.store.get = broken
    expect(error.code).toBe(-32603)
    expect(JSON.stringify(error)).not.toContain('secret')
  })

  it('SEP-1686 7.2.1, 7.2.2: a failed run completes its task with isError; a lost one fails it with an error', async () => {
    await open()
    const client = await connect()
    for (const [index, state] of (['failed', 'lost'] as const).entries()) {
      const taskId = `mine-${state}`
      const sent = call(client, { taskId })
      await created(client, taskId)
      const run = await w.run(index)
      const error = { code: 'E', message: 'm', step: 'Pay' }
      await w.set(run, () => w.backend.set(run.runKey, { state, error }))
      await w.clock.advance(5_000)
      const answer = await sent.answer
      if (state === 'failed') {
        expect(answer.result).toMatchObject({ isError: true, ...related(taskId) })
        expect(await get(client, taskId)).toMatchObject({ status: 'completed' })
      } else {
        expect(answer.error.code).toBe(-32603)
        expect(await get(client, taskId)).toMatchObject({
          status: 'failed',
          error: expect.stringContaining('do not repeat it'),
        })
      }
    }
  })

  it('SEP-1686 7.2: a refused start is what the call would have said', async () => {
    await open()
    const client = await connect()
    w.backend.script('start', 'refused')
    const { result } = await call(client).answer
    expect(result).toMatchObject({ isError: true, ...related() })
    expect(result.content[0].text).toBe('The fake engine refuses to start.')
    expect((await get(client)).status).toBe('completed')
  })
})

describe('8. security', () => {
  it('SEP-1686 8.1.1: bound to the authentication context; not being bound to the session is our documented deviation', async () => {
    await open()
    const [alice, again, bob] = [await connect(), await connect(), await connect({ as: 'bob' })]
    const sent = call(alice)
    await created(alice)
    await succeed()
    await sent.answer
    for (const method of ['tasks/get', 'tasks/result', 'tasks/delete'])
      expect((await bob.ask(method, { taskId: 'mine-1' })).error.message).toContain('Task not found')
    expect((await bob.ask('tasks/list')).result.tasks).toEqual([])
    expect((await get(again)).status).toBe('completed')
    expect((await again.ask('tasks/list')).result.tasks).toHaveLength(1)
  })

  it('SEP-1686 8.1.3, 8.2.1: what one caller may have under way is bounded', async () => {
    await open({ server: { limits: { sweepMs: 1e12, maxOpenTasks: 2, maxCalls: 3 } } })
    const client = await connect()
    for (const taskId of ['a', 'b']) {
      call(client, { taskId })
      await created(client, taskId)
    }
    const { result } = await call(client, { taskId: 'c' }).answer
    expect(result).toMatchObject({ isError: true })
    expect(result.content[0].text).toContain('2 open tasks')
    expect((await client.ask('tasks/get', { taskId: 'c' })).error.code).toBe(-32602)
    // One that is there is said to be there, and is no further one.
    expect((await call(client, { taskId: 'a' }).answer).error).toMatchObject({
      code: -32602,
      message: 'Task ID already exists: a',
    })
    const bob = await connect({ as: 'bob' })
    call(bob)
    await created(bob)
  })

  it('SEP-1686 8.1.3: however often a client polls, the engine is asked once an interval', async () => {
    await open()
    const client = await connect()
    call(client)
    await created(client)
    await w.run()
    await w.clock.advance(1_000)
    await get(client)
    const before = w.backend.callsOf('get').length
    await Promise.all(Array.from({ length: 20 }, () => get(client)))
    expect(w.backend.callsOf('get').length).toBe(before)
  })

  it('SEP-1686 8.2.1: ended tasks are removed', async () => {
    await open({ server: { limits: { sweepMs: 60_000, sessionIdleMs: 1e9 } } })
    const client = await connect()
    const sent = call(client, { keepAlive: 120_000 })
    await created(client)
    await succeed()
    await sent.answer
    await w.clock.advance(300_000)
    expect((await w.store.list('alice', {}, 10)).records).toEqual([])
  })

  it('SEP-1686 8.3.1: calls, cancels and deletes are audited with their owner', async () => {
    const events: Any[] = []
    const audit = { info: (fields: object) => void events.push(fields), warn() {}, error() {} }
    await open({ server: { audit, limits: { sweepMs: 1e12 } } })
    const client = await connect()
    const sent = call(client)
    await created(client)
    await w.run()
    await client.notify('notifications/cancelled', { requestId: sent.id })
    await w.clock.advance(5_000)
    await client.ask('tasks/delete', { taskId: 'mine-1' })
    const actions = events.map(({ audit: action, owner, taskId }) => [action, JSON.parse(owner)[2], taskId])
    expect(actions).toEqual([
      ['call', 'alice', 'mine-1'],
      ['cancel', 'alice', 'mine-1'],
      ['delete', 'alice', 'mine-1'],
    ])
  })
})

describe('over stdio', () => {
  it('the same: created, asked, answered, listed, cancelled, deleted', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const client = await stdioLegacy(w.server, ELICITS)
    const sent = call(client, {}, 'deploy', { progressToken: 1 })
    expect((await created(client)).message.params).toEqual(related())
    const run = await w.run()
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    const { message } = await client.found(isQuestion)
    expect(message.params).toMatchObject(related())
    await client.respond(message.id, ACCEPT)
    await until(() => run.answers.has('a'))
    await succeed()
    expect((await sent.answer).result).toMatchObject({ content: [{ text: 'done' }, {}], ...related() })
    const second = call(client, { taskId: 'mine-2' }, 'deploy')
    await created(client, 'mine-2')
    await w.run(1)
    await client.notify('notifications/cancelled', { requestId: second.id })
    await until(() => w.backend.executions[1]?.cancels.length === 1)
    await w.clock.advance(5_000)
    expect((await get(client, 'mine-2')).status).toBe('cancelled')
    expect((await client.ask('tasks/list')).result.tasks).toHaveLength(2)
    expect((await client.ask('tasks/delete', { taskId: 'mine-2' })).result).toEqual(related('mine-2'))
    expect(client.received.some(({ message: each }) => each.id === second.id)).toBe(false)
    await client.close()
  })
})
