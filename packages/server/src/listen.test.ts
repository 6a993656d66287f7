import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Listening, WIRES, type Wire } from './testing/wires.js'
import { until, type World, type WorldOptions, world } from './testing/world.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
type Any = any

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'
const TASKS = { tasks: true, elicitation: true }
const GATED = { tools: [{ name: 'order', humanInput: 'elicitation' as const }] }

const statusOf = (message: Any) => [message?.params?.taskId, message?.params?.status]

describe.each(Object.entries(WIRES))('subscriptions/listen with taskIds over %s', (kind, wireOf) => {
  let w: World
  let wire: Wire
  const open = async (options?: WorldOptions) => {
    w = await world(options)
    wire = await wireOf(w)
  }
  afterEach(async () => {
    await w.close()
    await wire.close()
  })

  const start = async (): Promise<string> => {
    const { result } = await wire.send('tools/call', { name: 'order', arguments: {} }, TASKS)
    return result.taskId
  }
  const get = async (taskId: string, sent = TASKS) => (await wire.send('tasks/get', { taskId }, sent)).result
  const listen = (taskIds: readonly string[], sent: object = {}) =>
    wire.listen({ taskIds }, { ...TASKS, ...sent })
  const finish = async (index = 0) => {
    const run = await w.run(index)
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'Done' }))
  }
  /** The engine is looked at as often as anybody wants; none of that may come from a stream that is gone. */
  const readsIn = async (ms: number) => {
    const before = w.backend.callsOf('get').length
    await w.clock.advance(ms)
    return w.backend.callsOf('get').length - before
  }

  it('listen: nothing before the acknowledgement; then a snapshot of each task at once, then every change', async () => {
    await open()
    const [one, two] = [await start(), await start()]
    const stream = await listen([one, two])
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [one, two] }, _meta: { [SUBSCRIPTION]: expect.anything() } },
    })
    expect(statusOf(await stream.next())).toEqual([one, 'working'])
    expect(statusOf(await stream.next())).toEqual([two, 'working'])
    const run = await w.run(1)
    const progress = { message: 'half way' }
    await w.set(run, () => w.backend.set(run.runKey, { state: 'running', progress }))
    const changed = await stream.next()
    expect(changed).toMatchObject({ method: 'notifications/tasks', params: { taskId: two } })
    expect(changed.params.statusMessage).toContain('half way')
    await finish(0)
    expect(statusOf(await stream.next())).toEqual([one, 'completed'])
  })

  it('listen: only what was requested; unknown, foreign and other forms’ ids are left out alike', async () => {
    await open()
    const taskId = await start()
    await start()
    const { owner, ...record } = await until(async () => w.store.get({ owner: 'local', taskId }))
    await w.store.create({ ...record, owner: 'somebody else', taskId: 'tsk_foreign' } as Any)
    await w.store.create({ ...record, owner, taskId: 'tsk_plain', form: 'plain' } as Any)
    const ids = ['tsk_nobody', 'tsk_foreign', taskId, 'tsk_plain', taskId, '']
    const stream = await wire.listen({ taskIds: ids, toolsListChanged: true }, TASKS)
    expect((await stream.next()).params.notifications).toEqual({ taskIds: [taskId] })
    expect(statusOf(await stream.next())).toEqual([taskId, 'working'])
    await finish(1)
    await finish(0)
    expect(statusOf(await stream.next())).toEqual([taskId, 'completed'])
  })

  it('an expired id is left out, and a stream for nothing ends at once', async () => {
    await open({ tools: [{ name: 'order', retainMs: 1000 }] })
    const taskId = await start()
    await finish()
    w.clock.jump(1001)
    const stream = await listen([taskId])
    expect((await stream.next()).params.notifications).toEqual({ taskIds: [] })
    expect(await stream.next()).toMatchObject({ result: { resultType: 'complete' } })
    expect(await stream.next()).toBeUndefined()
  })

  it.each([7, '7', 'listen:0'])(
    'listen: the subscription id %j, type preserved, on every frame',
    async (id) => {
      await open()
      const taskId = await start()
      const stream = await listen([taskId], { id })
      await stream.next()
      await stream.next()
      await finish()
      const [ended, result] = [await stream.next(), await stream.next()]
      expect(ended.params._meta).toEqual({ [SUBSCRIPTION]: id })
      expect(result).toMatchObject({ id, result: { _meta: { [SUBSCRIPTION]: id } } })
      expect(result.result._meta['io.modelcontextprotocol/serverInfo']).toMatchObject({ name: 'runbridge' })
    },
  )

  it('listen: -32021 for taskIds from a client that did not declare the extension', async () => {
    await open()
    const taskId = await start()
    const stream = await wire.listen({ taskIds: [taskId] }, { elicitation: true })
    expect((await stream.next()).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
    })
    expect(await stream.next()).toBeUndefined()
    const again = await wire.listen({ taskIds: [] }, { elicitation: true })
    expect((await again.next()).error).toMatchObject({ code: -32021 })
  })

  it('taskIds that are no list of strings are -32602', async () => {
    await open()
    const stream = await wire.listen({ taskIds: [1] }, TASKS)
    expect((await stream.next()).error).toMatchObject({ code: -32602 })
  })

  it('listen: a frame is what tasks/get says at that moment, to each caller as it can be asked', async () => {
    await open({ tools: [{ ...GATED.tools[0], name: 'order', unanswerable: 'show' }] })
    const taskId = await start()
    const run = await w.run()
    await w.set(run, () => {})
    const callers = [TASKS, { tasks: true, elicitation: false }]
    const streams = await Promise.all(callers.map((sent) => listen([taskId], sent)))
    for (const stream of streams) await stream.next()
    const changes = [
      () =>
        w.backend.set(run.runKey, { state: 'running', progress: { message: 'packing', done: 1, total: 3 } }),
      () => void w.backend.openGate(run.runKey, { id: 'g', prompt: 'Ship it?' }),
      () => w.backend.closeGate(run.runKey, 'g'),
      () => w.backend.set(run.runKey, { state: 'failed', error: { code: 'E', message: 'no', step: 'Pay' } }),
    ]
    const seen: string[][] = []
    for (const change of [undefined, ...changes]) {
      if (change) await w.set(run, change)
      const frames = await Promise.all(streams.map((stream) => stream.next()))
      for (const [index, { params }] of frames.entries()) {
        const { _meta, ...frame } = params
        const { resultType, _meta: stamped, ...told } = await get(taskId, callers[index] as typeof TASKS)
        expect(frame).toEqual(told)
        expect(_meta).toEqual({ [SUBSCRIPTION]: expect.anything() })
      }
      seen.push(frames.map(({ params }) => params.status))
    }
    expect(seen).toEqual([
      ['working', 'working'],
      ['working', 'working'],
      ['input_required', 'working'],
      ['working', 'working'],
      ['completed', 'completed'],
    ])
  })

  it('no progress or message notifications on a listen stream', async () => {
    await open()
    const { result } = await wire.send(
      'tools/call',
      { name: 'order', arguments: {} },
      { ...TASKS, progressToken: 'p' },
    )
    const stream = await listen([result.taskId], { progressToken: 'p' })
    const run = await w.run()
    for (const done of [1, 2]) {
      await w.set(run, () =>
        w.backend.set(run.runKey, { state: 'running', progress: { message: 'x', done } }),
      )
    }
    await finish()
    const methods = new Set<string | undefined>()
    for (let message = await stream.next(); message; message = await stream.next())
      methods.add(message.method)
    expect([...methods]).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tasks',
      undefined,
    ])
  })

  it('goes on for the tasks that remain, and ends gracefully when the last has ended', async () => {
    await open()
    const ids = [await start(), await start()]
    const stream = await listen(ids)
    for (let index = 0; index < 3; index += 1) await stream.next()
    await finish(0)
    expect(statusOf(await stream.next())).toEqual([ids[0], 'completed'])
    await finish(1)
    expect(statusOf(await stream.next())).toEqual([ids[1], 'completed'])
    expect(await stream.next()).toMatchObject({ result: { resultType: 'complete' } })
    expect(await stream.next()).toBeUndefined()
    expect(await readsIn(60_000)).toBe(0)
  })

  it('reconnecting resumes from the task id, ended or not', async () => {
    await open()
    const taskId = await start()
    const first = await listen([taskId])
    await first.next()
    await first.cancel()
    await finish()
    const second = await listen([taskId])
    expect((await second.next()).params.notifications).toEqual({ taskIds: [taskId] })
    expect(statusOf(await second.next())).toEqual([taskId, 'completed'])
    expect(await second.next()).toMatchObject({ result: {} })
  })

  it('a client that leaves ends its subscription: nothing follows, nobody looks any more', async () => {
    await open({ server: { limits: { sweepMs: 1e12, maxSubscriptions: 1 } } })
    const taskId = await start()
    const stream = await listen([taskId])
    await stream.next()
    await stream.next()
    expect(await readsIn(10_000)).toBeGreaterThan(0)
    await stream.cancel()
    // Its place is free as soon as the server has seen it leave.
    await until(async () => {
      const next = await listen([taskId])
      const { error } = await next.next()
      if (error) return false
      await next.cancel()
      return true
    })
    await until(async () => (await readsIn(60_000)) === 0)
    if (kind === 'http') return
    // The channel stays: what was on its way when the cancellation arrived may come, and then nothing more.
    const arrived = () => Promise.race([stream.next(), get(taskId).then(() => 'nothing')])
    await until(async () => (await arrived()) === 'nothing')
    await finish()
    expect(await arrived()).toBe('nothing')
  })

  it('more than maxSubscriptions of one caller are refused, and say so', async () => {
    await open({ server: { limits: { sweepMs: 1e12, maxSubscriptions: 2 } } })
    const taskId = await start()
    for (const stream of [await listen([taskId]), await listen([taskId])]) await stream.next()
    const third = await listen([taskId])
    const { error } = await third.next()
    expect(error).toMatchObject({ code: -32603, data: { reason: 'limit' } })
    expect(error.message).toContain('at most 2 of one caller')
    expect((await get(taskId)).status).toBe('working')
  })

  it('a server that closes says goodbye on every stream; the run goes on', async () => {
    await open()
    const taskId = await start()
    const streams = [await listen([taskId]), await listen([taskId])]
    for (const stream of streams) {
      await stream.next()
      await stream.next()
    }
    await w.close()
    for (const stream of streams) {
      expect(await stream.next()).toMatchObject({ result: { resultType: 'complete' } })
      expect(await stream.next()).toBeUndefined()
    }
    expect((await w.run()).cancels).toEqual([])
  })

  it('one follower for each task, however many listen: engine and store are read as if there were one', async () => {
    await open()
    const taskId = await start()
    const looks = vi.spyOn(w.store, 'get')
    const looksIn = async (ms: number) => {
      looks.mockClear()
      const reads = await readsIn(ms)
      return { reads, looks: looks.mock.calls.length }
    }
    const told = async (stream: Listening) => {
      await stream.next()
      await stream.next()
    }
    const alone = await listen([taskId])
    await told(alone)
    await w.clock.advance(30_000)
    const before = await looksIn(30_000)
    const others = await Promise.all(Array.from({ length: 9 }, () => listen([taskId])))
    for (const stream of others) await told(stream)
    const after = await looksIn(30_000)
    expect(after.reads).toBeLessThanOrEqual(before.reads)
    expect(after.looks).toBeLessThanOrEqual(before.looks + 2)
    await finish()
    for (const stream of [alone, ...others]) {
      const heard = await stream.next()
      // The first read of the engine may have been news to those who listened before it.
      const last = heard.params.status === 'working' ? await stream.next() : heard
      expect(statusOf(last)).toEqual([taskId, 'completed'])
    }
  })

  it('a held call, task_status and a subscription are woken by one read of the engine', async () => {
    await open()
    const held = wire.send('tools/call', { name: 'order', arguments: {} })
    const run = await w.run()
    const taskId = await until(async () => (await w.store.list('local', {}, 1)).records[0]?.taskId)
    await w.store
      .get({ owner: 'local', taskId })
      .then((record) => w.store.update({ ...record, form: 'ext-tasks' } as Any))
    const asked = wire.send('tools/call', { name: 'task_status', arguments: { taskId } })
    const stream = await listen([taskId])
    await stream.next()
    expect(statusOf(await stream.next())).toEqual([taskId, 'working'])
    const before = w.backend.callsOf('get').length
    // No timer rings: who is woken is woken by the event.
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'Done' }))
    for (const { result } of [await held, await asked]) expect(result.content[0].text).toBe('Done')
    expect(statusOf(await stream.next())).toEqual([taskId, 'completed'])
    expect(w.backend.callsOf('get').length - before).toBe(1)
  })

  it('sees what another process wrote to the same store', async () => {
    await open()
    const taskId = await start()
    const stream = await listen([taskId])
    await stream.next()
    await stream.next()
    const key = { owner: 'local', taskId }
    const record = await w.store.get(key)
    await w.store.update({ ...(record as Any), note: 'Somebody else was here.' })
    await w.clock.advance(1_000)
    expect((await stream.next()).params.statusMessage).toContain('Somebody else was here.')
  })

  it('a store that fails for a while delays the news, loses none and repeats none', async () => {
    await open()
    const taskId = await start()
    const stream = await listen([taskId])
    await stream.next()
    await w.clock.advance(2_000)
    const outage = async (meanwhile: () => void = () => {}) => {
      const broken = vi.spyOn(w.store, 'get').mockRejectedValue(new Error('the disk is gone'))
      meanwhile()
      await w.clock.advance(5_000)
      broken.mockRestore()
      await w.clock.advance(5_000)
    }
    await outage()
    const run = await w.run()
    await outage(() => w.backend.set(run.runKey, { state: 'succeeded', output: 'Done' }))
    const heard: string[] = []
    for (let message = await stream.next(); message; message = await stream.next()) {
      if (message.params) heard.push(`${message.params.status} ${message.params.statusMessage}`)
    }
    expect(heard.length).toBe(new Set(heard).size)
    expect(heard.at(-1)).toMatch(/^completed/)
  })
})
