import { lostText, RunbridgeError } from '@runbridge/core'
import { describe, expect, it } from 'vitest'
import { CLOCK_ALLOWANCE_MS, created, createWorld, START_TIMEOUT_MS, VISIBILITY_MS } from './world.js'

const key = { owner: 'alice', taskId: 'tsk_1' }
const SETTLE_MS = START_TIMEOUT_MS + CLOCK_ALLOWANCE_MS + VISIBILITY_MS

describe('a start', () => {
  it('leaves a durable task with its run reference', async () => {
    const { service, store, request } = createWorld()
    const task = await created(service.create(request()))
    expect(task.record).toMatchObject({ taskId: 'tsk_1', state: 'running', run: { id: 'run-1', attempt: 0 } })
    expect(await store.get(key)).toEqual(task.record)
  })

  it('that is refused leaves nothing behind', async () => {
    const { service, store, backend, request } = createWorld()
    backend.script('start', 'refused')
    expect(await service.create(request())).toMatchObject({ kind: 'refused', error: { code: 'denied' } })
    expect(await store.get(key)).toBeUndefined()
    expect(backend.executions).toHaveLength(0)
  })

  it('that is refused fails the task of a client that knows the id', async () => {
    const { service, backend, request } = createWorld()
    backend.script('start', 'refused')
    const task = await created(service.create(request({ idKnown: true })))
    expect(task.record).toMatchObject({ state: 'failed', failure: { code: 'denied' } })
  })

  it('keeps no arguments in the record', async () => {
    const { service, store, request } = createWorld()
    await service.create(request({ input: { secret: 'hunter2' } }))
    expect(JSON.stringify(await store.get(key))).not.toContain('hunter2')
  })

  it('whose answer is lost is found and adopted', async () => {
    const { service, backend, request } = createWorld({ backend: { hiddenMs: 1_500 } })
    backend.script('start', 'unknown_but_happened')
    const task = await created(service.create(request()))
    expect(task.record).toMatchObject({ state: 'running', run: { id: 'run-1' } })
    expect(backend.executions).toHaveLength(1)
  })

  it('that never reached an idempotent engine is repeated under the same key', async () => {
    const { service, backend, request } = createWorld()
    backend.script('start', 'unknown_and_nothing_happened', 'unknown_and_nothing_happened')
    const task = await created(service.create(request()))
    expect(task.record.state).toBe('running')
    expect(new Set(backend.callsOf('start').map((call) => call.runKey))).toEqual(new Set(['rb-1']))
    expect(backend.executions).toHaveLength(1)
  })

  it('of another engine is never repeated: nothing found is lost, with the task id and a warning', async () => {
    const { service, backend, request } = createWorld({ backend: { capabilities: { start: 'findable' } } })
    backend.script('start', 'unknown_and_nothing_happened')
    const task = await created(service.create(request()))
    expect(task.record).toMatchObject({ state: 'lost', failure: { code: 'unknown_outcome' } })
    expect(lostText(task.record).match(/may have started/g)).toHaveLength(1)
    expect(backend.callsOf('start')).toHaveLength(1)
    expect(await service.get(key)).toMatchObject({ record: { state: 'lost' } })
  })

  it('whose first attempt is unknown and second refused is not refused, since the first may run', async () => {
    const { service, backend, request } = createWorld({ backend: { hiddenMs: 2_000 } })
    backend.script('start', 'unknown_but_happened', 'refused', 'refused')
    const task = await created(service.create(request()))
    expect(task.record).toMatchObject({ state: 'running', run: { id: 'run-1' } })
    expect(backend.executions).toHaveLength(1)
  })

  it('is not lost by a look that was sent before the engine had its time, however late it was answered', async () => {
    const { service, backend, clock, request } = createWorld({
      autoAdvance: false,
      backend: { capabilities: { start: 'findable' } },
    })
    backend.script('start', 'unknown_but_happened')
    const look = backend.hold('find')
    const outcome = service.create(request())
    await look.arrived
    await clock.advance(VISIBILITY_MS)
    look.release({ kind: 'absent' })
    await clock.advance(1_000)
    expect((await created(outcome)).record).toMatchObject({ state: 'running', run: { id: 'run-1' } })
  })

  it('that two runs answer to is an error and never a guess', async () => {
    const { service, backend, request } = createWorld({ backend: { capabilities: { start: 'findable' } } })
    backend.script('start', 'unknown_but_happened')
    const runs = [
      { id: 'run-1', attempt: 0 },
      { id: 'run-2', attempt: 0 },
    ]
    backend.script('find', { kind: 'ambiguous', runs })
    const task = await created(service.create(request()))
    expect(task.record.state).toBe('lost')
    expect(task.record.failure?.message).toContain('run-2')
  })

  it('that stays unreadable is neither lost nor failed: it goes on starting, and is settled later', async () => {
    const world = createWorld({ backend: { visibilityMs: 60_000, capabilities: { start: 'findable' } } })
    const { service, backend, clock, request } = world
    backend.script('start', 'unknown_but_happened')
    const denied = {
      kind: 'unreadable',
      error: new RunbridgeError('denied', 'no'),
    } as const
    backend.script('find', ...Array.from({ length: 1_000 }, () => denied))
    const task = await created(service.create(request()))
    expect(task.record).toMatchObject({ state: 'starting', idKnown: true })
    await clock.advance(300_000)
    expect((await service.get(key)).record).toMatchObject({
      state: 'starting',
      unreadable: { code: 'denied' },
    })
    await clock.advance(86_400_000)
    for (let look = 0; look < 1_000 && (await service.get(key)).record.state === 'starting'; look += 1) {
      await clock.advance(60_000)
    }
    expect((await service.get(key)).record).toMatchObject({ state: 'running', run: { id: 'run-1' } })
  })
})

describe('a caller that can not be told of its record', () => {
  it.each(['create', 'attach'] as const)(
    'ends its %s, which starts nothing and leaves nothing',
    async (how) => {
      const { service, backend, store, request } = createWorld({
        others: [{ name: 'watch', attach: { cancel: false } }],
      })
      const { record } = await created(service.create(request()))
      const own = {
        taskId: 'mine',
        idKnown: true,
        onRecorded: () =>
          Promise.reject(new RunbridgeError('unavailable', 'The session can not be written.')),
      }
      const watch = {
        owner: 'alice',
        tool: 'watch',
        form: 'sep-1686',
        reference: record.run?.id ?? '',
      } as const
      const call = how === 'create' ? service.create(request(own)) : service.attach({ ...watch, ...own })
      await expect(call).rejects.toThrow('can not be written')
      expect(await store.get({ owner: 'alice', taskId: 'mine' })).toBeUndefined()
      expect(backend.executions).toHaveLength(1)
    },
  )
})

describe('a start that is refused while an equal call has its id already', () => {
  it('fails the task that was given out', async () => {
    const keyed = { tool: { idempotencyKey: ['version'] }, autoAdvance: false }
    const { service, replica, backend, clock, request } = createWorld(keyed)
    const held = backend.hold('start')
    const first = replica({ attemptTimeoutMs: START_TIMEOUT_MS }).create(request())
    await held.arrived
    const ahead = { ...clock, now: () => clock.now() + CLOCK_ALLOWANCE_MS }
    const second = replica({ clock: ahead }).create(request())
    await clock.advance(START_TIMEOUT_MS - CLOCK_ALLOWANCE_MS + 500)
    const given = await created(second)
    expect(given.record).toMatchObject({ taskId: 'tsk_1', state: 'starting' })
    held.release({ kind: 'refused', error: new RunbridgeError('denied', 'no') })
    await clock.advance(500)
    expect(await first).toMatchObject({ kind: 'task', task: { record: { state: 'failed' } } })
    expect((await service.get(given.record)).record).toMatchObject({
      state: 'failed',
      failure: { code: 'denied' },
    })
  })
})

describe('a starter that is gone', () => {
  const abandon = async (happened: boolean, idKnown = false) => {
    const world = createWorld({ autoAdvance: false })
    const { backend, replica, request } = world
    const held = backend.hold('start')
    void replica()
      .create(request({ idKnown }))
      .catch(() => {})
    await held.arrived
    if (happened) {
      // The engine took the start; the starter's process died before the answer.
      await backend.start(
        { id: 'arn:deploy' },
        'rb-1',
        { version: '1.2.3' },
        { signal: new AbortController().signal, owner: 'alice' },
      )
    }
    return world
  }

  it('is not overtaken before its deadline, the clocks and the engine have had their time', async () => {
    const { service, clock, backend } = await abandon(true)
    clock.jump(SETTLE_MS - 1)
    expect((await service.get(key)).record.state).toBe('starting')
    expect(backend.callsOf('find')).toHaveLength(0)
  })

  it('leaves a run that is adopted', async () => {
    const { service, clock, backend } = await abandon(true)
    clock.jump(SETTLE_MS)
    expect((await service.get(key)).record).toMatchObject({ state: 'running', run: { id: 'run-1' } })
    expect(backend.executions).toHaveLength(1)
  })

  it('leaves nothing where nothing started and nobody knows the id', async () => {
    const { service, clock, store } = await abandon(false)
    clock.jump(SETTLE_MS)
    await expect(service.get(key)).rejects.toMatchObject({ code: 'task_not_found' })
    expect(await store.get(key)).toBeUndefined()
  })

  it('leaves a lost task where a client knows the id', async () => {
    const { service, clock } = await abandon(false, true)
    clock.jump(SETTLE_MS)
    expect((await service.get(key)).record).toMatchObject({ state: 'lost' })
  })

  it('is settled by the sweeper when nobody asks', async () => {
    const { service, clock, store } = await abandon(true)
    clock.jump(SETTLE_MS)
    expect(await service.sweep()).toEqual({ removed: 0, settled: 1 })
    expect(await store.get(key)).toMatchObject({ state: 'running', run: { id: 'run-1' } })
  })
})

describe('a starter that outlives its deadline', () => {
  it('keeps its record again when it was dropped too early', async () => {
    const { backend, store, replica, request, clock } = createWorld({ autoAdvance: false })
    const held = backend.hold('start')
    const outcome = replica({ attemptTimeoutMs: 10 * SETTLE_MS, startTimeoutMs: START_TIMEOUT_MS }).create(
      request(),
    )
    await held.arrived
    await store.delete(key)
    held.release()
    expect(await created(outcome)).toMatchObject({ record: { state: 'running', run: { id: 'run-1' } } })
    expect(await store.get(key)).toMatchObject({ state: 'running', run: { id: 'run-1' } })
    expect(clock.now()).toBeGreaterThan(0)
  })

  it('answers from the record when somebody settled it first', async () => {
    const { backend, store, replica, request } = createWorld({ autoAdvance: false })
    const held = backend.hold('start')
    const outcome = replica().create(request())
    await held.arrived
    const record = (await store.get(key))!
    await store.update({ ...record, state: 'lost', idKnown: true, endedAt: 1e15 })
    held.release()
    expect((await created(outcome)).record.state).toBe('lost')
  })

  it('is told that its attempt is unknown, and finds it', async () => {
    const { backend, replica, request, clock } = createWorld({ autoAdvance: false })
    const held = backend.hold('start')
    const outcome = replica({ attemptTimeoutMs: 1_000 }).create(request())
    await held.arrived
    await backend.start(
      { id: 'arn:deploy' },
      'rb-1',
      { version: '1.2.3' },
      { signal: new AbortController().signal, owner: 'alice' },
    )
    await clock.advance(1_000)
    expect((await created(outcome)).record).toMatchObject({ state: 'running', run: { id: 'run-1' } })
    expect(backend.executions).toHaveLength(1)
  })
})

describe('a call that is sent again with the same ids', () => {
  const sealed = { taskId: 'tsk_sealed', runKey: 'rb-sealed' }

  it('gets the task of the first', async () => {
    const { service, backend, request } = createWorld()
    await service.create(request(sealed))
    expect(await service.create(request(sealed))).toMatchObject({ kind: 'task', replayed: true })
    expect(backend.executions).toHaveLength(1)
  })

  it('at the same time starts once', async () => {
    const { backend, replica, request, service } = createWorld()
    const outcomes = await Promise.all([service.create(request(sealed)), replica().create(request(sealed))])
    expect(outcomes.map((outcome) => outcome.kind)).toEqual(['task', 'task'])
    expect(backend.executions).toHaveLength(1)
  })

  it('with other arguments is refused', async () => {
    const { service, request } = createWorld()
    await service.create(request(sealed))
    const other = await service.create(request({ ...sealed, input: { version: '6.6.6' } }))
    expect(other).toMatchObject({ kind: 'refused', error: { code: 'conflict' } })
  })

  it('of two owners are two tasks', async () => {
    const { service, backend, request } = createWorld()
    await service.create(request({ taskId: 'mine' }))
    await service.create(request({ taskId: 'mine', owner: 'bob' }))
    expect(backend.executions).toHaveLength(2)
  })
})

describe('a cancel wished during starting', () => {
  it('is sent as soon as the reference is set', async () => {
    const { backend, service, request } = createWorld({ autoAdvance: false })
    const held = backend.hold('start')
    const outcome = service.create(request({ idKnown: true }))
    await held.arrived
    await service.cancel(key, 'changed my mind')
    expect(backend.callsOf('cancel')).toHaveLength(0)
    held.release()
    const task = await created(outcome)
    expect(backend.callsOf('cancel').map((call) => call.reason)).toEqual(['changed my mind'])
    expect(task.record.cancel?.sentAt).toBeDefined()
    expect((await service.get(key)).record.state).toBe('cancelled')
  })

  it('is sent by whoever settles the start', async () => {
    const { backend, service, replica, request, clock } = createWorld({ autoAdvance: false })
    const held = backend.hold('start')
    void replica()
      .create(request({ idKnown: true }))
      .catch(() => {})
    await held.arrived
    await backend.start(
      { id: 'arn:deploy' },
      'rb-1',
      { version: '1.2.3' },
      { signal: new AbortController().signal, owner: 'alice' },
    )
    await service.cancel(key, 'enough')
    clock.jump(SETTLE_MS)
    await service.get(key)
    expect((await service.get(key)).record.state).toBe('cancelled')
  })
})
