import { RunbridgeError, type ServiceOptions, type TaskKey, type TaskStore, visible } from '@runbridge/core'
import { memory } from '@runbridge/stores/memory'
import { sealed } from '@runbridge/stores/sealed'
import { describe, expect, it, vi } from 'vitest'
import { CLOCK_ALLOWANCE_MS, created, createWorld, START_TIMEOUT_MS, VISIBILITY_MS } from './world.js'

const keys = ['a random text of more than 32 characters']
const down = new RunbridgeError('unavailable', 'the engine is down')
const unreadable = { kind: 'unreadable', error: down } as const

function sealedWorld(options: Parameters<typeof createWorld>[0] = {}) {
  let now = () => 0
  const store = sealed({ keys, now: () => now(), maxAgeMs: 400 * 86_400_000 })
  const world = createWorld({ store, ...options })
  now = () => world.clock.now()
  /** As another process has it: nothing in common but the keys. */
  const elsewhere = (overrides: Partial<ServiceOptions> = {}) =>
    world.replica({ store: sealed({ keys, now }), ...overrides })
  return { ...world, elsewhere }
}

async function started(options: Parameters<typeof createWorld>[0] = {}) {
  const world = sealedWorld(options)
  const { record } = await created(world.service.create(world.request()))
  return { ...world, key: { owner: record.owner, taskId: record.taskId } satisfies TaskKey }
}

const unknown = { code: 'task_not_found', message: 'Task not found' }

describe('a store that keeps nothing', () => {
  it('hands out an id by which any replica follows the run to its end', async () => {
    const { key, elsewhere, service, backend } = await started()
    expect(key.taskId).toMatch(/^tsk_.{40,}$/)
    expect((await elsewhere().get(key)).record.state).toBe('running')
    backend.set('rb-1', { state: 'succeeded', output: { ok: true } })
    for (const each of [service, elsewhere()]) {
      expect((await each.get(key)).record).toMatchObject({
        taskId: key.taskId,
        state: 'succeeded',
        snapshot: { output: { ok: true } },
      })
    }
  })

  it('shows an end the same at every look, and no more once its retention is over', async () => {
    const { key, elsewhere, backend, clock } = await started()
    await clock.advance(60_000)
    backend.set('rb-1', { state: 'succeeded', endedAt: clock.now() })
    const first = (await elsewhere().get(key)).record
    await clock.advance(3_600_000)
    const { record } = await elsewhere().get(key)
    expect([record.endedAt, record.updatedAt]).toEqual([first.endedAt, first.updatedAt])
    await clock.advance(1)
    await expect(elsewhere().get(key)).rejects.toMatchObject(unknown)
  })

  it('knows no id of another owner, and none whose tool or workflow is configured no more', async () => {
    const { key, service, elsewhere, tool } = await started()
    await expect(service.get({ ...key, owner: 'bob' })).rejects.toMatchObject(unknown)
    const renamed = elsewhere({ tools: [{ ...tool, name: 'other' }] })
    await expect(renamed.get(key)).rejects.toMatchObject(unknown)
    const rebound = elsewhere({ tools: [{ ...tool, workflow: { id: 'arn:another' } }] })
    await expect(rebound.get(key)).rejects.toMatchObject(unknown)
    await expect(rebound.cancel(key, 'x')).rejects.toMatchObject(unknown)
    await expect(rebound.answer(key, {})).rejects.toMatchObject(unknown)
  })

  it('cancels, and says so when the wish could not be sent, since nobody sends it later', async () => {
    const { key, elsewhere, backend } = await started()
    backend.script('cancel', { kind: 'failed', error: down })
    await expect(elsewhere().cancel(key, 'enough')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/cancel again/),
    })
    await elsewhere().cancel(key, 'enough')
    expect(backend.callsOf('cancel')).toHaveLength(2)
  })

  it('delivers answers to questions that only the engine remembers', async () => {
    const { key, elsewhere, backend } = await started()
    backend.openGate('rb-1', { id: 'g' })
    const { questions, record } = await elsewhere().get(key)
    expect([record.state, questions.map((each) => each.key)]).toEqual(['waiting', ['g.1']])
    const report = await elsewhere().answer(key, { 'g.1': { action: 'accept', content: { approve: true } } })
    expect(report.outcomes).toEqual({ 'g.1': 'delivered' })
    expect(backend.callsOf('answer')).toHaveLength(1)
  })

  it('hands out a start that could not be settled, and any replica settles it', async () => {
    const world = sealedWorld()
    const { backend, clock, service, request, elsewhere } = world
    backend.script('start', ...Array(200).fill('unknown_but_happened'))
    backend.script('find', ...Array(200).fill(unreadable))
    const { record } = await created(service.create(request()))
    expect([record.state, record.run, record.taskId.length > 40]).toEqual(['starting', undefined, true])
    const finds = backend.callsOf('find').length
    await expect(elsewhere().get(record)).resolves.toMatchObject({ record: { state: 'starting' } })
    expect(backend.callsOf('find')).toHaveLength(finds)
    await clock.advance(START_TIMEOUT_MS + CLOCK_ALLOWANCE_MS + VISIBILITY_MS)
    const signal = () => new AbortController().signal
    while (
      (await backend.find({ id: 'arn:deploy' }, 'rb-1', { signal: signal(), owner: 'alice' })).kind ===
      'unreadable'
    );
    expect((await elsewhere().get(record)).record.state).toBe('running')
  })

  it('takes a denial for the end of a run only once the run must be visible', async () => {
    const { key, elsewhere, backend, clock } = await started()
    backend.script('get', { kind: 'absent' })
    expect((await elsewhere().get(key)).record.state).toBe('running')
    await clock.advance(VISIBILITY_MS + CLOCK_ALLOWANCE_MS)
    backend.script('get', { kind: 'absent' })
    expect((await elsewhere().get(key)).record.state).toBe('lost')
    // Nothing was kept of it: what the engine says next is believed again.
    expect((await elsewhere().get(key)).record.state).toBe('running')
  })

  it('refuses the older forms before anything starts, and leaves no handle for what was refused', async () => {
    const { service, request, backend } = sealedWorld()
    for (const form of ['core-2025-11-25', 'sep-1686'] as const) {
      await expect(service.create(request({ form }))).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringMatching(/keeps no records/),
      })
    }
    expect(backend.callsOf('start')).toHaveLength(0)
  })

  it('reads the engine at its interval while somebody waits, also when it can not be read', async () => {
    const { key, service, backend } = await started()
    backend.script('get', ...Array(100).fill(unreadable))
    await service.wait(key, { waitMs: 30_000, signal: new AbortController().signal })
    const reads = backend.callsOf('get').length
    expect(reads).toBeGreaterThan(2)
    expect(reads).toBeLessThan(20)
  })
})

/** A store that tells of changes when a test says so. */
function watchedStore() {
  let onChange: (key?: TaskKey) => void = () => {}
  const store: TaskStore = {
    ...memory(),
    watch(listener) {
      onChange = listener
      return () => {}
    },
  }
  return { store, hint: (key?: TaskKey) => onChange(key) }
}

describe('changes that another process made', () => {
  it('are told to who listens, once, and only what looks different', async () => {
    const { store, hint } = watchedStore()
    const world = createWorld({ store })
    const { record } = await created(world.service.create(world.request()))
    const told = vi.fn()
    const stop = world.service.subscribe(record, (task) => told(task.record.note))
    const present = (await store.get(record))!
    await store.update({ ...present, note: 'elsewhere' })
    hint({ owner: 'bob', taskId: record.taskId })
    hint(record)
    hint(record)
    await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1))
    expect(told).toHaveBeenCalledWith('elsewhere')
    const again = (await store.get(record))!
    await store.update({ ...again, refreshAfter: again.refreshAfter + 1 })
    // It may have missed some: everything that is listened to is read again.
    hint()
    await store.update({ ...again, version: again.version + 1, note: 'later' })
    hint()
    await vi.waitFor(() => expect(told).toHaveBeenLastCalledWith('later'))
    expect(told).toHaveBeenCalledTimes(2)
    stop()
    hint()
    expect(visible((await store.get(record))!)).toContain('later')
    expect(told).toHaveBeenCalledTimes(2)
  })

  it('wake who waits before its next look', async () => {
    const { store, hint } = watchedStore()
    const world = createWorld({ store, autoAdvance: false })
    const { record } = await created(world.service.create(world.request()))
    const waiting = world.service.wait(record, {
      waitMs: 60_000,
      signal: new AbortController().signal,
      until: (task) => task.record.note === 'elsewhere',
    })
    // The clock stands still: nothing but the hint can wake it.
    await vi.waitFor(async () => {
      const present = (await store.get(record))!
      if (present.note === undefined) await store.update({ ...present, note: 'elsewhere' })
      hint(record)
      expect((await Promise.race([waiting, Promise.resolve(undefined)]))?.record.note).toBe('elsewhere')
    })
  })
})
