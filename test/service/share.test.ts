import type { Task, TaskKey } from '@runbridge/core'
import { RunbridgeError } from '@runbridge/core'
import { describe, expect, it } from 'vitest'
import { created, createWorld } from './world.js'

const watch = { name: 'watch', attach: { cancel: false } }

/** One run, its own task and `watchers` more that only watch it. */
async function watched(watchers: number, options: Parameters<typeof createWorld>[0] = {}) {
  const world = createWorld({ ...options, others: [watch, ...(options.others ?? [])] })
  const { service, request } = world
  const own = await created(service.create(request()))
  const keys: TaskKey[] = [own.record]
  for (let n = 0; n < watchers; n += 1) {
    const attached = { owner: `o${n}`, tool: 'watch', form: 'ext-tasks', reference: 'run-1' } as const
    keys.push((await created(service.attach(attached))).record)
  }
  const reads = () => world.backend.callsOf('get').length
  const pollAll = () => Promise.all(keys.map((key) => service.get(key)))
  return { ...world, keys, reads, pollAll }
}

describe('tasks that share a run', () => {
  it('share its looks, one an interval', async () => {
    const { clock, reads, pollAll } = await watched(20)
    await clock.advance(1_000)
    await pollAll()
    expect(reads()).toBe(1)
    await pollAll()
    expect(reads()).toBe(1)
    await clock.advance(60_000)
    await pollAll()
    expect(reads()).toBe(2)
  })

  it('see the same, each with questions of its own', async () => {
    const { clock, backend, pollAll, service, keys } = await watched(2)
    backend.openGate('rb-1', { id: 'approve' })
    await clock.advance(1_000)
    const tasks = await pollAll()
    expect(tasks.map(({ record }) => record.state)).toEqual(['waiting', 'waiting', 'waiting'])
    const approve = { 'approve.1': { action: 'accept', content: { approve: true } } } as const
    expect((await service.answer(keys[1]!, approve)).outcomes).toEqual({ 'approve.1': 'delivered' })
    backend.set('rb-1', { state: 'succeeded' })
    await clock.advance(60_000)
    expect((await pollAll()).map(({ record }) => record.state)).toEqual(Array(3).fill('succeeded'))
  })

  it('read anew what was pointed at since: a hint, an answer, a cancel', async () => {
    const { clock, backend, reads, pollAll, service, keys } = await watched(1)
    await clock.advance(1_000)
    await pollAll()
    backend.set('rb-1', { state: 'succeeded' })
    await clock.advance(1)
    await service.hint({ run: { id: 'run-1', attempt: 0 } })
    expect(reads()).toBe(2)
    expect((await service.get(keys[1]!)).record.state).toBe('succeeded')
  })

  it('do not share what they ask differently', async () => {
    const plain = { name: 'plain', attach: { cancel: false }, humanInput: 'off' } as const
    const { clock, backend, reads, service, pollAll } = await watched(1, { others: [plain] })
    backend.openGate('rb-1', { id: 'approve' })
    const attached = { owner: 'bob', tool: 'plain', form: 'ext-tasks', reference: 'run-1' } as const
    const other = await created(service.attach(attached))
    await clock.advance(1_000)
    await pollAll()
    expect((await service.get(other.record)).record.state).toBe('running')
    expect(reads()).toBe(2)
  })

  it('share an outage, and its end', async () => {
    const { clock, backend, pollAll, reads } = await watched(3)
    const error = new RunbridgeError('unavailable', 'down')
    backend.script('get', { kind: 'unreadable', error })
    await clock.advance(1_000)
    expect((await pollAll()).every(({ record }) => record.unreadable?.code === 'unavailable')).toBe(true)
    await clock.advance(60_000)
    expect((await pollAll()).every(({ record }) => record.unreadable === undefined)).toBe(true)
    expect(reads()).toBe(2)
  })

  it('look for themselves when the one that looked for them could not', async () => {
    const { clock, store, reads, service, keys } = await watched(1)
    await clock.advance(1_000)
    const update = store.update
    let failing = true
    store.update = async (record) => {
      if (!failing) return update(record)
      failing = false
      throw new RunbridgeError('unavailable', 'the store is down')
    }
    const [one, other] = await Promise.allSettled(keys.map((key) => service.get(key)))
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
    expect(other?.status).toBe('fulfilled')
    expect(reads()).toBe(1)
  })

  it('follow the age of the run, not of the task that watches it', async () => {
    const { clock, service } = await watched(0)
    await clock.advance(250_000)
    const young = { owner: 'bob', tool: 'watch', form: 'ext-tasks', reference: 'run-1' } as const
    const { record } = await created(service.attach(young))
    // The first look tells how old the run is.
    await service.get(record)
    await clock.advance(1_000)
    expect((await service.get(record)).pollIntervalMs).toBe(50_200)
  })
})

describe('the engine’s quota', () => {
  const PER_SECOND = 5

  async function busy(runs: number) {
    const world = createWorld()
    const { service, backend, request } = world
    backend.readQuota = () => ({ name: 'here', perSecond: PER_SECOND })
    const keys: TaskKey[] = []
    for (let n = 0; n < runs; n += 1) keys.push((await created(service.create(request()))).record)
    /** Every client polls at the interval that it was told, for as long. */
    const follow = async (ms: number, seen: (task: Task) => void = () => {}) => {
      const end = world.clock.now() + ms
      const due = keys.map((key) => ({ key, at: world.clock.now() }))
      for (;;) {
        due.sort((a, b) => a.at - b.at)
        const next = due[0]!
        if (next.at > end) return
        world.clock.jump(Math.max(0, next.at - world.clock.now()))
        const task = await service.get(next.key)
        seen(task)
        next.at = world.clock.now() + task.pollIntervalMs
      }
    }
    return { ...world, keys, follow }
  }

  it('is kept in the worst second, and every run is looked at', async () => {
    const { backend, follow } = await busy(60)
    await follow(300_000)
    const looks = backend.callsOf('get')
    const times = looks.map(({ at }) => at)
    for (const from of times) {
      expect(times.filter((at) => at >= from && at < from + 1000).length).toBeLessThanOrEqual(PER_SECOND)
    }
    const perRun = new Map<string, number>()
    for (const { run } of looks) perRun.set(run!.id, (perRun.get(run!.id) ?? 0) + 1)
    expect(perRun.size).toBe(60)
    // 300 s at 0.9 of 5 a second for 60 runs are 22 each; nobody is left behind.
    expect(Math.min(...perRun.values())).toBeGreaterThanOrEqual(8)
  })

  it('lengthens what clients are told, and shows the last state meanwhile', async () => {
    const { follow } = await busy(60)
    let longest = 0
    await follow(60_000, ({ record, pollIntervalMs }) => {
      expect(record.state).toBe('running')
      expect(record.unreadable).toBeUndefined()
      longest = Math.max(longest, pollIntervalMs)
    })
    // 60 runs at 4.5 a second.
    expect(longest).toBeGreaterThan(12_000)
    expect(longest).toBeLessThan(20_000)
  })

  it('is given back when the engine throttles, for all runs', async () => {
    const { backend, follow } = await busy(20)
    await follow(100_000)
    const before = backend.callsOf('get').length
    backend.script('get', { kind: 'unreadable', error: new RunbridgeError('throttled', 'slow down') })
    await follow(20_000)
    const throttled = backend.callsOf('get').length - before
    await follow(120_000)
    const recovered = backend.callsOf('get').length
    await follow(20_000)
    expect(throttled).toBeLessThanOrEqual(60)
    expect(backend.callsOf('get').length).toBeGreaterThan(recovered)
  })

  it('never holds up a wish to cancel', async () => {
    const { backend, service, keys, clock, follow } = await busy(40)
    await follow(3_000)
    await service.cancel(keys[39]!, 'enough')
    expect(backend.callsOf('cancel')).toHaveLength(1)
    // Nor one that could not be sent at first: the next poll sends it, though there is no room for a look.
    backend.script('cancel', { kind: 'failed', error: new RunbridgeError('unavailable', 'down') })
    await service.cancel(keys[38]!, 'enough')
    const looks = backend.callsOf('get').length
    clock.jump(10_000)
    for (const key of keys) await service.get(key)
    expect(backend.callsOf('get').length - looks).toBeLessThanOrEqual(PER_SECOND)
    expect(backend.callsOf('cancel')).toHaveLength(3)
  })
})
