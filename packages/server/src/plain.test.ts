import { memory } from '@runbridge/stores/memory'
import { afterEach, describe, expect, it } from 'vitest'
import { type Exchange, send, sendLegacy } from './testing/raw-client.js'
import { until, type World, type WorldOptions, world } from './testing/world.js'

let w: World
const open = async (options?: WorldOptions) => {
  w = await world(options)
}
afterEach(() => w.close())

const call = (name: string, args: object = {}, sent: object = {}, more: object = {}) =>
  send(w.http.url, 'tools/call', { name, arguments: args, ...more }, sent)
const text = (exchange: Exchange): string =>
  exchange.result.content.map((part: { text: string }) => part.text).join('\n')
const taskIdIn = (exchange: Exchange): string => /tsk_[\w-]+/.exec(text(exchange))?.[0] ?? ''
/** Lets a held call reach its wait, then lets the time pass. */
const pass = async (ms: number) => {
  await w.run()
  await w.clock.advance(ms)
}

describe('the hold', () => {
  it('a result in time is the answer', async () => {
    await open()
    const answering = call('order')
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: { total: 7 } }))
    const { result } = await answering
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { total: 7 } })
    expect(result.content[0]).toEqual({ type: 'text', text: '{"total":7}' })
  })

  it('is bounded: then the call is answered with the task id and what to do next', async () => {
    await open()
    const answering = call('order')
    await pass(45_000)
    const answer = await answering
    expect(answer.result.isError).toBeUndefined()
    expect(text(answer)).toMatch(/^Task tsk_[\w-]+: The run goes on/)
    expect(text(answer)).toContain('task_status')
    expect(text(answer)).toContain('Do not start it again')
    expect(answer.result).not.toHaveProperty('taskId')
  })

  it('does not offer to stop what can not be stopped', async () => {
    await open({ tools: [{ name: 'order', holdMs: 0 }], capabilities: { cancel: false } })
    expect(text(await call('order'))).toMatch(/It can not be stopped\.$/)
  })

  it('progress strictly increases, under one token, and stops at the end', async () => {
    await open()
    const answering = call('order', {}, { progressToken: 'p' })
    const run = await w.run()
    await w.clock.advance(12_000)
    const progress = { message: 'Charge', done: 2, total: 5 }
    await w.set(run, () => w.backend.set(run.runKey, { progress }))
    await w.clock.advance(10_000)
    await w.set(run, () => w.backend.set(run.runKey, { progress: { ...progress, done: 1 } }))
    await w.clock.advance(30_000)
    const { notifications, answer } = await answering
    expect(answer.result.content[0].text).toContain('task_status')
    const seen = notifications.map(({ method, params }) => ({ method, ...params }))
    expect(seen.length).toBeGreaterThan(5)
    for (const [index, one] of seen.entries()) {
      expect(one).toMatchObject({ method: 'notifications/progress', progressToken: 'p' })
      if (index > 0) expect(one.progress).toBeGreaterThan(seen[index - 1]?.progress)
    }
    expect(seen.some(({ message }) => message.includes('"Charge" (2 of 5)'))).toBe(true)
  })

  it('no progress without a token', async () => {
    await open()
    const answering = call('order')
    await pass(45_000)
    expect((await answering).notifications).toEqual([])
  })

  it('a closed connection never stops a run', async () => {
    await open()
    const leaving = new AbortController()
    const answering = call('order', {}, { signal: leaving.signal })
    const run = await w.run()
    leaving.abort()
    await expect(answering).rejects.toThrow()
    await w.clock.advance(120_000)
    expect(run.cancels).toEqual([])
    expect(run.snapshot.state).toBe('running')
  })

  it('a cancelled and a lost run are told in words', async () => {
    await open()
    for (const [index, state, words] of [
      [0, 'cancelled', 'The run was cancelled.'],
      [1, 'lost', 'do not repeat it'],
    ] as const) {
      const answering = call('order')
      const run = await w.run(index)
      await w.set(run, () => w.backend.set(run.runKey, { state }))
      const answer = await answering
      expect(answer.result.isError).toBe(true)
      expect(text(answer)).toContain(words)
    }
  })
})

describe('task_status', () => {
  async function handedOut(tool: object = {}) {
    await open({ tools: [{ name: 'order', holdMs: 0, ...tool }] })
    const taskId = taskIdIn(await call('order'))
    return { taskId, run: await w.run() }
  }

  it('waits, then gives the final result', async () => {
    const { taskId, run } = await handedOut()
    const asking = call('task_status', { taskId })
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'done' }))
    expect((await asking).result.content[0]).toEqual({ type: 'text', text: 'done' })
  })

  it('says how it stands when the time is up; waitSeconds 0 does not wait', async () => {
    const { taskId } = await handedOut()
    expect(text(await call('task_status', { taskId, waitSeconds: 0 }))).toContain(
      'This is not the result yet',
    )
    const asking = call('task_status', { taskId, waitSeconds: 45 })
    await until(() => w.backend.callsOf('start').length > 0)
    let over = false
    void asking.finally(() => {
      over = true
    })
    await until(() => {
      void w.clock.advance(1_000)
      return over
    })
    expect(text(await asking)).toContain('This is not the result yet')
  })

  it('waits at most 45 s', async () => {
    const { taskId } = await handedOut()
    const answer = await call('task_status', { taskId, waitSeconds: 46 })
    expect(answer.result.isError).toBe(true)
    expect(text(answer)).toContain('/waitSeconds must be <= 45 (rule: maximum)')
  })

  it('an unknown task is a tool error', async () => {
    await handedOut()
    const answer = await call('task_status', { taskId: 'tsk_nobody' })
    expect([answer.result.isError, text(answer)]).toEqual([true, 'Task not found'])
  })

  it('sees the tasks of every form of this owner', async () => {
    await open()
    const { result } = await call('order', {}, { tasks: true })
    expect(text(await call('task_status', { taskId: result.taskId, waitSeconds: 0 }))).toContain(
      result.taskId,
    )
  })
})

describe('task_answer', () => {
  async function waiting(humanInput: 'elicitation' | 'model') {
    await open({ tools: [{ name: 'deploy', humanInput, unanswerable: 'show', holdMs: 0 }] })
    const taskId = taskIdIn(await call('deploy'))
    const run = await w.run()
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a', prompt: 'Deploy?' }))
    return { taskId, run }
  }
  const yes = { key: 'a.1', action: 'accept', content: { approve: true } }

  it('counts where the tool lets the model answer, and task_status shows the question', async () => {
    const { taskId, run } = await waiting('model')
    const shown = text(await call('task_status', { taskId }))
    expect(shown).toContain('Open question "a.1": "Deploy?"')
    expect(shown).toContain('"required":["approve"]')
    expect(text(await call('task_answer', { taskId, ...yes }))).toMatch(/^The answer was delivered/)
    expect(run.answers.get('a')).toEqual({ action: 'accept', content: { approve: true } })
  })

  it('never counts where the answer is for a person', async () => {
    const { taskId, run } = await waiting('elicitation')
    const answer = await call('task_answer', { taskId, ...yes })
    expect(answer.result.isError).toBe(true)
    expect(text(answer)).toContain('are for a person')
    expect(run.answers.size).toBe(0)
    expect(text(await call('task_status', { taskId, waitSeconds: 0 }))).toContain('Waits for a person')
  })

  it.each([
    [{ key: 'b.1', action: 'decline' }, 'no open question'],
    [{ key: 'a.1', action: 'accept', content: {} }, '/approve is required'],
    [{ key: 'a.1', action: 'cancel' }, '/action must be one of'],
  ])('what does not fit is said and not delivered: %j', async (args, words) => {
    const { taskId, run } = await waiting('model')
    const answer = await call('task_answer', { taskId, ...args })
    expect(answer.result.isError).toBe(true)
    expect(text(answer)).toContain(words)
    expect(run.answers.size).toBe(0)
  })
})

describe('task_cancel', () => {
  it('asks the engine and says so', async () => {
    await open({ tools: [{ name: 'order', holdMs: 0 }] })
    const taskId = taskIdIn(await call('order'))
    w.backend.script('cancel', 'sent_in_vain')
    expect(text(await call('task_cancel', { taskId, reason: 'wrong order' }))).toContain('Asked to stop')
    expect((await w.run()).cancels).toEqual(['wrong order'])
  })
})

describe('what tools/list shows is decided by the capabilities of the request alone', () => {
  const outputSchema = { type: 'object' }
  const list = async (sent: object) => (await send(w.http.url, 'tools/list', {}, sent)).result

  it('clients without tasks see the follow-up tools and no output schemas', async () => {
    await open({ tools: [{ name: 'order', outputSchema }] })
    const plain = await list({})
    expect(plain.tools.map((tool: { name: string }) => tool.name)).toEqual([
      'order',
      'task_status',
      'task_answer',
      'task_cancel',
      'task_list',
    ])
    expect(plain.tools[0]).not.toHaveProperty('outputSchema')
    expect(plain.tools[0].description).toContain('answered with a task id')
    const withTasks = await list({ tasks: true })
    expect(withTasks.tools.map((tool: { name: string }) => tool.name)).toEqual(['order'])
    expect(withTasks.tools[0].outputSchema).toEqual(outputSchema)
  })

  it('cache hints on lists; what depends on the caller is private', async () => {
    await open()
    expect(await list({})).toMatchObject({ ttlMs: 300_000, cacheScope: 'private' })
    expect(await list({ tasks: true })).toMatchObject({ cacheScope: 'private' })
  })

  it('a cursor that is not ours is -32602', async () => {
    await open()
    expect((await send(w.http.url, 'tools/list', { cursor: 'x' })).error.code).toBe(-32602)
  })

  it('says what runs do not promise', async () => {
    await open({ capabilities: { start: 'blind', cancel: false } })
    const [tool] = (await list({ tasks: true })).tools
    expect(tool.description).toContain('whether it runs can not be told')
    expect(tool.description).toContain('can not be stopped')
  })
})

describe('a tool that executes as a call', () => {
  const sync = { capabilities: { execution: 'call', gates: false } as const, tools: [{ name: 'greet' }] }

  it('answers directly, whatever the client declared, and makes no task', async () => {
    await open(sync)
    for (const tasks of [true, false]) {
      const { result } = await call('greet', { name: 'World' }, { tasks })
      expect(result).toMatchObject({ resultType: 'complete', structuredContent: { name: 'World' } })
    }
    const legacyHint = await call('greet', {}, { tasks: true }, { task: { ttl: 60_000 } })
    expect(legacyHint.result.resultType).toBe('complete')
    expect((await w.store.list('local', {}, 10)).records).toEqual([])
  })

  it('an unknown outcome says: it may have run', async () => {
    await open(sync)
    const { RunbridgeError } = await import('@runbridge/core')
    w.backend.script('call', {
      kind: 'unknown',
      error: new RunbridgeError('unavailable', 'The answer was lost.'),
    })
    const answer = await call('greet')
    expect(answer.result.isError).toBe(true)
    expect(text(answer)).toMatch(/It may have run to its end; do not repeat it/)
  })
})

describe('gates and callers that can not be asked', () => {
  const tools = (unanswerable: 'refuse' | 'show') => [
    { name: 'deploy', humanInput: 'elicitation' as const, unanswerable, holdMs: 0 },
  ]

  it('refuse: nothing starts', async () => {
    await open({ tools: tools('refuse') })
    for (const tasks of [true, false]) {
      const { status, error } = await call('deploy', {}, { tasks })
      expect([status, error.code]).toEqual([400, -32021])
      expect(error.message).toContain('did not declare elicitation')
    }
    expect(w.backend.executions).toEqual([])
    expect((await call('deploy', {}, { elicitation: true })).result.isError).toBeUndefined()
  })

  it('show: it starts and says who must answer where', async () => {
    await open({ tools: tools('show') })
    const { result } = await call('deploy', {}, { tasks: true })
    const run = await w.run()
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    const polled = await send(w.http.url, 'tasks/get', { taskId: result.taskId }, { tasks: true })
    expect(polled.result.statusMessage).toContain('somebody has to answer')
  })
})

describe('hosts of the 2025 era, without a session', () => {
  const hello = {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'old', version: '0' },
  }

  it('get the plain path: tools, the hold, and the tools to go on with', async () => {
    const { sessions: _, ...store } = memory()
    await open({ tools: [{ name: 'order', holdMs: 0 }], server: { store } })
    const { result } = await sendLegacy(w.http.url, 'initialize', hello)
    expect(result.capabilities).toEqual({ tools: {}, resources: {} })
    const list = await sendLegacy(w.http.url, 'tools/list')
    expect(list.result.tools).toHaveLength(5)
    expect(list.result).not.toHaveProperty('cacheScope')
    const held = await sendLegacy(w.http.url, 'tools/call', { name: 'order', arguments: {} })
    expect(held.result).not.toHaveProperty('resultType')
    const taskId = taskIdIn(held)
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'done' }))
    const ended = await sendLegacy(w.http.url, 'tools/call', { name: 'task_status', arguments: { taskId } })
    expect(ended.result.content[0].text).toBe('done')
  })

  it('progress on the stream of the call', async () => {
    await open()
    const params = { name: 'order', arguments: {}, _meta: { progressToken: 3 } }
    const answering = sendLegacy(w.http.url, 'tools/call', params)
    await pass(45_000)
    const { notifications } = await answering
    expect(notifications.map(({ params: { progress } }) => progress)).toEqual(
      notifications.map((_, index) => index + 1),
    )
    expect(notifications.length).toBeGreaterThan(2)
  })

  it('a tool that requires tasks, called without: -32601', async () => {
    await open({ tools: [{ name: 'order', taskSupport: 'required' }] })
    expect((await sendLegacy(w.http.url, 'tools/call', { name: 'order' })).error.code).toBe(-32601)
  })
})
