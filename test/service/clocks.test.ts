import { type Clock, createTaskService } from '@runbridge/core'
import { memory } from '@runbridge/stores/memory'
import { describe, expect, it } from 'vitest'
import { created, createWorld, START_TIMEOUT_MS, VISIBILITY_MS } from './world.js'

const MINUTES_MS = 180_000
const key = { owner: 'alice', taskId: 'mine' }
const mine = { form: 'sep-1686', taskId: 'mine', runKey: 'rb-mine', idKnown: true } as const

/** The same clock as others see it that are ahead of it, or behind. */
function shifted(clock: Clock, ms: number): Clock {
  return { ...clock, now: () => clock.now() + ms }
}

describe.each([MINUTES_MS, -MINUTES_MS])('replicas whose clocks are %d ms apart', (apart) => {
  it('leave a start to its starter, for as long as it may take', async () => {
    const { clock, replica, request, backend, store } = createWorld({ autoAdvance: false })
    const options = { clockAllowanceMs: MINUTES_MS, attemptTimeoutMs: START_TIMEOUT_MS }
    const ours = replica(options)
    const theirs = replica({ ...options, clock: shifted(clock, apart) })
    const sent = backend.hold('start')
    const starting = ours.create(request(mine))
    await sent.arrived
    await clock.advance(START_TIMEOUT_MS - 1_000)
    await theirs.sweep()
    expect((await theirs.get(key)).record.state).toBe('starting')
    expect(await store.get(key)).toBeDefined()
    sent.release()
    expect((await created(starting)).record.state).toBe('running')
    expect(backend.executions).toHaveLength(1)
  })

  it('answer a call that is sent again within the time of its start, though its starter is dead', async () => {
    const { clock, replica, request } = createWorld({ autoAdvance: false })
    const dies = (step: string) => {
      if (step === 'start.sending') throw new Error('died')
    }
    await expect(replica({ onStep: dies }).create(request(mine))).rejects.toThrow('died')
    const theirs = replica({ clock: shifted(clock, apart) })
    let answered = false
    const again = theirs.create(request(mine)).then((outcome) => {
      answered = true
      return outcome
    })
    await clock.advance(START_TIMEOUT_MS + 1_000)
    expect(answered).toBe(true)
    expect((await created(again)).record.state).toBe('starting')
  })

  it('do not take a run for lost that the engine denies for as long as it may', async () => {
    const { clock, replica, request, backend } = createWorld({ autoAdvance: false })
    const options = { clockAllowanceMs: MINUTES_MS }
    const ours = replica(options)
    const theirs = replica({ ...options, clock: shifted(clock, apart) })
    const { record } = await created(ours.create(request()))
    const absent = { kind: 'absent' } as const
    backend.script('get', absent, absent, absent, absent)
    for (const service of [ours, theirs]) {
      await service.hint({ runKey: record.runKey })
      await clock.advance(VISIBILITY_MS / 4)
      expect((await service.get(record)).record.state).toBe('running')
    }
  })
})

describe('replicas on a store that has a clock', () => {
  it('go by it: one lease for both, and an interval that fits the age of the run', async () => {
    const { clock, backend, request, tool } = createWorld()
    const store = { ...memory(), now: () => clock.now() }
    const replica = () => createTaskService({ store, tools: [tool], validate: () => [] })
    const [ours, theirs] = [replica(), replica()]
    const { record } = await created(ours.create(request()))
    expect(record.createdAt).toBe(clock.now())
    clock.jump(1_000)
    for (const service of [ours, theirs, ours]) {
      const task = await service.get(record)
      expect(task.record.refreshAfter).toBe(clock.now() + 1_000)
      expect(task.pollIntervalMs).toBe(1_000)
    }
    expect(backend.callsOf('get')).toHaveLength(1)
  })
})
