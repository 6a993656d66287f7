import { RunbridgeError } from '@runbridge/core'
import { afterEach, describe, expect, it } from 'vitest'
import { send } from './testing/raw-client.js'
import { QUANTITY, until, type World, type WorldOptions, world } from './testing/world.js'

let w: World
const open = async (options?: WorldOptions) => {
  w = await world(options)
}
afterEach(() => w.close())

const TASKS = { tasks: true, elicitation: true }
const call = (name: string, args: object = {}, sent: object = TASKS, more: object = {}) =>
  send(w.http.url, 'tools/call', { name, arguments: args, ...more }, sent)
const get = (taskId: string, sent: object = TASKS) => send(w.http.url, 'tasks/get', { taskId }, sent)
const update = (taskId: string, inputResponses: object, sent: object = TASKS) =>
  send(w.http.url, 'tasks/update', { taskId, inputResponses }, sent)
const cancel = (taskId: string, sent: object = TASKS) => send(w.http.url, 'tasks/cancel', { taskId }, sent)

describe('server/discover', () => {
  it('advertises the extension as exactly {} and no capabilities.tasks', async () => {
    await open()
    const { result } = await send(w.http.url, 'server/discover')
    expect(result.capabilities.extensions).toEqual({ 'io.modelcontextprotocol/tasks': {} })
    expect(result.capabilities).not.toHaveProperty('tasks')
    expect(result).toMatchObject({ cacheScope: 'public', ttlMs: 300_000 })
  })
})

describe('a task', () => {
  it('is a flat handle, then working, then completed with its result', async () => {
    await open()
    const { result: handle } = await call('order', { n: 1 })
    expect(handle).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null })
    expect(handle).not.toHaveProperty('content')
    expect((await get(handle.taskId)).result).toMatchObject({ resultType: 'complete', status: 'working' })
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'Hello' }))
    const { result } = await get(handle.taskId)
    expect(result).toMatchObject({
      resultType: 'complete',
      status: 'completed',
      result: { resultType: 'complete', content: [{ type: 'text', text: 'Hello' }, {}] },
    })
    expect(result.ttlMs).toBeGreaterThan(0)
  })

  it('resolves by tasks/get as soon as its handle has left, with the start still unsettled in the engine', async () => {
    await open()
    w.backend.hiddenMs = 60_000
    const { result: handle } = await call('order')
    expect((await get(handle.taskId)).result).toMatchObject({ taskId: handle.taskId, status: 'working' })
  })

  it('has an id of at least 128 random bits', async () => {
    await open()
    const ids = await Promise.all([1, 2].map(async () => (await call('order')).result.taskId as string))
    expect(new Set(ids).size).toBe(2)
    for (const taskId of ids)
      expect(Buffer.from(taskId.slice(4), 'base64url').length).toBeGreaterThanOrEqual(16)
  })

  it('a failed run is completed with isError; a lost one is failed with a JSON-RPC error', async () => {
    await open()
    const { result: one } = await call('order')
    const first = await w.run()
    const error = { code: 'E', message: 'no card', step: 'Pay' }
    await w.set(first, () => w.backend.set(first.runKey, { state: 'failed', error }))
    expect((await get(one.taskId)).result).toMatchObject({ status: 'completed', result: { isError: true } })
    const { result: two } = await call('order')
    const second = await w.run(1)
    await w.set(second, () => w.backend.set(second.runKey, { state: 'lost' }))
    const lost = (await get(two.taskId)).result
    expect(lost).toMatchObject({ status: 'failed', error: { code: -32603 } })
    expect(lost).not.toHaveProperty('result')
  })

  it('an outage leaves it working', async () => {
    await open()
    const { result: handle } = await call('order')
    const run = await w.run()
    await w.set(run, () =>
      w.backend.script('get', {
        kind: 'unreadable',
        error: new RunbridgeError('unauthenticated', 'The token expired.'),
      }),
    )
    const { result } = await get(handle.taskId)
    expect(result.status).toBe('working')
    expect(result.statusMessage).toMatch(/Not readable since .*: The token expired\./)
  })
})

describe('ids that are none', () => {
  it('unknown, foreign, expired and other forms’ ids get the same answer', async () => {
    await open({ tools: [{ name: 'order', retainMs: 1000, holdMs: 0 }] })
    const unknown = await get('tsk_nobody')
    expect(unknown.error).toMatchObject({ code: -32602, message: 'Task not found' })

    const { tasks } = await ended()
    w.clock.jump(10_000)
    const expired = await get(tasks)
    await call('order', {}, {})
    const run = await w.run(1)
    const [plain] = await w.store.byRun({ runKey: run.runKey })
    const record = await w.store.get({ owner: 'local', taskId: plain?.taskId ?? '' })
    await w.store.create({ ...record!, owner: 'somebody', taskId: 'tsk_foreign', form: 'ext-tasks' })

    for (const other of [expired, await get('tsk_foreign'), await get(plain?.taskId ?? '')]) {
      expect(other.error).toEqual(unknown.error)
      expect(other.status).toBe(unknown.status)
    }
    for (const taskId of ['tsk_nobody', 'tsk_foreign', plain?.taskId ?? '']) {
      expect((await update(taskId, {})).error).toEqual(unknown.error)
      expect((await cancel(taskId)).error).toEqual(unknown.error)
    }
  })

  async function ended() {
    const { result } = await call('order')
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded' }))
    await get(result.taskId)
    return { tasks: result.taskId as string }
  }
})

describe('capabilities of the request', () => {
  it.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
    '%s without the extension: -32021',
    async (method) => {
      await open()
      const { result } = await call('order')
      const refused = await send(w.http.url, method, { taskId: result.taskId, inputResponses: {} })
      expect(refused.error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
      })
    },
  )

  it('a tool that requires tasks, called without: -32021 on the modern era', async () => {
    await open({ tools: [{ name: 'order', taskSupport: 'required' }] })
    const { status, error } = await call('order', {}, {})
    expect(status).toBe(400)
    expect(error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
    })
    expect(w.backend.callsOf('start')).toHaveLength(0)
  })

  it('a handle only for the request that declared the extension', async () => {
    await open({ tools: [{ name: 'order', holdMs: 0 }] })
    expect((await call('order')).result.resultType).toBe('task')
    expect((await call('order', {}, {})).result).toMatchObject({ resultType: 'complete', content: [{}] })
  })

  it.each(['tasks/result', 'tasks/list', 'no/such'])(
    '%s does not exist: -32601, HTTP 404',
    async (method) => {
      await open()
      const { status, error } = await send(w.http.url, method, { taskId: 'x' }, TASKS)
      expect([status, error.code]).toEqual([404, -32601])
    },
  )
})

describe('tasks/update', () => {
  const TOOL = [{ name: 'deploy', humanInput: 'elicitation' as const }]

  async function waiting(...gates: string[]) {
    await open({ tools: TOOL })
    const { result } = await call('deploy')
    const run = await w.run()
    await w.set(run, () => {
      for (const id of gates) w.backend.openGate(run.runKey, { id })
    })
    return { taskId: result.taskId as string, run }
  }

  it('input_required carries all open questions; answered keys go, the others stay', async () => {
    const { taskId, run } = await waiting('a', 'b')
    const { result } = await get(taskId)
    expect(result.status).toBe('input_required')
    expect(Object.keys(result.inputRequests)).toEqual(['a.1', 'b.1'])
    const yes = { action: 'accept', content: { approve: true } }
    const schema = result.inputRequests['a.1'].params.requestedSchema
    expect(schema.type).toBe('object')
    const ack = await update(taskId, { 'a.1': yes })
    expect(ack.result).toEqual({ resultType: 'complete', _meta: expect.anything() })
    expect(Object.keys((await get(taskId)).result.inputRequests)).toEqual(['b.1'])
    await update(taskId, { 'b.1': { action: 'decline' } })
    expect((await get(taskId)).result.status).toBe('working')
    expect([...run.answers.entries()]).toEqual([
      ['a', yes],
      ['b', { action: 'decline' }],
    ])
  })

  it('late, unknown and repeated keys are acknowledged and change nothing', async () => {
    const { taskId, run } = await waiting('a')
    expect(
      (await update(taskId, { nobody: { ignored: true }, 'a.9': { action: 'decline' } })).result.resultType,
    ).toBe('complete')
    await update(taskId, { 'a.1': { action: 'accept', content: { approve: true } } })
    expect((await update(taskId, { 'a.1': { action: 'decline' } })).result.resultType).toBe('complete')
    expect(run.answers.get('a')).toMatchObject({ action: 'accept' })
  })

  it('one invalid answer, none applied', async () => {
    const { taskId, run } = await waiting('a', 'b')
    const good = { action: 'accept', content: { approve: true } }
    const wrongs = [
      { action: 'accept', content: {} },
      { action: 'maybe' },
      { method: 'elicitation/create', result: good },
    ]
    for (const bad of wrongs) {
      const { error } = await update(taskId, { 'a.1': good, 'b.1': bad })
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('b.1') })
      expect(run.answers.size).toBe(0)
    }
  })

  it('an answer that comes too late is acknowledged, and the status message says so', async () => {
    const { taskId, run } = await waiting('a')
    await get(taskId)
    w.backend.closeGate(run.runKey, 'a')
    expect(
      (await update(taskId, { 'a.1': { action: 'accept', content: { approve: true } } })).result,
    ).toBeDefined()
    expect((await get(taskId)).result.statusMessage).toContain('too late')
  })

  it('an elicitation only to a caller that declared it (form mode); its answers count alone', async () => {
    const { taskId, run } = await waiting('a')
    for (const elicitation of [false, { url: {} }]) {
      const { result } = await get(taskId, { tasks: true, elicitation })
      expect(result.status).toBe('working')
      expect(result).not.toHaveProperty('inputRequests')
      expect(result.statusMessage).toContain('Waits for a person')
      await update(taskId, { 'a.1': { action: 'decline' } }, { tasks: true, elicitation })
    }
    expect(run.answers.size).toBe(0)
    expect((await get(taskId, { tasks: true, elicitation: { form: {}, url: {} } })).result.status).toBe(
      'input_required',
    )
  })

  it('without inputResponses is an invalid request', async () => {
    const { taskId } = await waiting('a')
    expect((await send(w.http.url, 'tasks/update', { taskId }, TASKS)).error.code).toBe(-32602)
  })
})

describe('tasks/cancel', () => {
  it('is acknowledged, idempotent, and cancelled only when the engine says so', async () => {
    await open()
    const { result } = await call('order')
    const run = await w.run()
    w.backend.script('cancel', 'sent_in_vain')
    expect((await cancel(result.taskId)).result).toEqual({ resultType: 'complete', _meta: expect.anything() })
    const asked = (await get(result.taskId)).result
    expect(asked.status).toBe('working')
    expect(asked.statusMessage).toContain('Asked to stop')
    await w.set(run, () => w.backend.set(run.runKey, { state: 'cancelled' }))
    expect((await get(result.taskId)).result.status).toBe('cancelled')
    expect((await cancel(result.taskId)).result.resultType).toBe('complete')
  })
})

describe('arguments', () => {
  const TOOLS = [{ name: 'order', inputSchema: QUANTITY }]

  it.each([
    [{}, '/quantity is required (rule: required)'],
    [{ quantity: 0 }, '/quantity must be >= 1 (rule: minimum)'],
    [{ quantity: 'two' }, '/quantity must be integer (rule: type)'],
  ])('that do not fit start nothing, and the error names path and rule: %j', async (args, problem) => {
    await open({ tools: TOOLS })
    const { result } = await call('order', args)
    expect(result.isError).toBe(true)
    expect(result.content[0].text).toContain(problem)
    expect(w.backend.callsOf('start')).toHaveLength(0)
  })

  it('unknown tools and malformed calls are JSON-RPC errors', async () => {
    await open({ tools: TOOLS })
    expect((await call('nobody')).error).toMatchObject({ code: -32602, message: 'Unknown tool: nobody' })
    const malformed = await send(w.http.url, 'tools/call', { name: 'order', arguments: [] }, TASKS)
    expect(malformed.error.code).toBe(-32602)
  })

  it('a refused start is a tool error that says what to change, and leaves no task', async () => {
    await open()
    w.backend.script('start', 'refused')
    const { result } = await call('order')
    expect(result).toMatchObject({ resultType: 'complete', isError: true })
    expect(result.content[0].text).toContain('refuses to start')
    expect((await w.store.list('local', {}, 10)).records).toHaveLength(0)
  })
})

describe('routing headers', () => {
  it('a header that disagrees with the body is -32020', async () => {
    await open()
    const { result } = await call('order')
    const other = await send(
      w.http.url,
      'tasks/get',
      { taskId: result.taskId },
      { ...TASKS, headers: { 'mcp-name': 'x' } },
    )
    expect([other.status, other.error.code]).toEqual([400, -32020])
  })
})

describe('streams', () => {
  it('no progress or message notifications for a task after its handle was returned', async () => {
    await open()
    const { notifications, result } = await call('order', {}, { ...TASKS, progressToken: 7 })
    expect(result.resultType).toBe('task')
    expect(notifications).toEqual([])
    const polled = await send(
      w.http.url,
      'tasks/get',
      { taskId: result.taskId },
      { ...TASKS, progressToken: 8 },
    )
    expect(polled.notifications).toEqual([])
  })

  it('no server requests on the modern era', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const answering = call('deploy', {}, { elicitation: true, progressToken: 1 })
    const run = await w.run()
    await until(() => w.backend.executions.length === 1)
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    const { notifications, result } = await answering
    for (const message of notifications) expect(message).not.toHaveProperty('id')
    expect(result.resultType).toBe('input_required')
  })
})

describe('errors', () => {
  it('what is unexpected leaves without anything internal in it', async () => {
    await open()
    w.store.create = async () => {
      throw new Error('secret connection string')
    }
    const { error } = await call('order')
    expect(error.code).toBe(-32603)
    expect(JSON.stringify(error)).not.toContain('secret')
  })
})
