import { getEventListeners } from 'node:events'
import { RunbridgeError } from '@runbridge/core'
import { describe, expect, it, vi } from 'vitest'
import { CLOCK_ALLOWANCE_MS, created, createWorld, VISIBILITY_MS } from './world.js'

const key = { owner: 'alice', taskId: 'tsk_1' }
const down = { kind: 'unreadable', error: new RunbridgeError('unavailable', 'the engine is down') } as const

async function running(options: Parameters<typeof createWorld>[0] = {}) {
  const world = createWorld(options)
  await created(world.service.create(world.request()))
  const look = async () => {
    await world.clock.advance(60_000)
    return (await world.service.get(key)).record
  }
  return { ...world, look }
}

describe('following', () => {
  it('reads the engine once per interval, however many ask and however many replicas run', async () => {
    const { service, replica, backend, clock } = await running()
    const other = replica()
    await clock.advance(1_000)
    await Promise.all(Array.from({ length: 50 }, (_, n) => (n % 2 ? service : other).get(key)))
    expect(backend.callsOf('get')).toHaveLength(1)
    await Promise.all([service.get(key), other.get(key)])
    expect(backend.callsOf('get')).toHaveLength(1)
    await clock.advance(1_000)
    await service.get(key)
    expect(backend.callsOf('get')).toHaveLength(2)
  })

  it('asks less often the older the run is, and says so', async () => {
    const { service, clock } = await running()
    expect((await service.get(key)).pollIntervalMs).toBe(1_000)
    await clock.advance(50_000)
    expect((await service.get(key)).pollIntervalMs).toBe(10_000)
    await clock.advance(86_400_000)
    expect((await service.get(key)).pollIntervalMs).toBe(60_000)
  })

  it('keeps an end for retainMs, and a running task for ever', async () => {
    const { service, backend, clock, look } = await running()
    await clock.advance(365 * 86_400_000)
    expect((await service.get(key)).record.state).toBe('running')
    backend.set('rb-1', { state: 'succeeded', output: 'done' })
    expect((await look()).state).toBe('succeeded')
    await clock.advance(3_599_999)
    expect((await service.get(key)).record.snapshot?.output).toBe('done')
    await clock.advance(2)
    await expect(service.get(key)).rejects.toMatchObject({ code: 'task_not_found' })
    expect(await service.sweep()).toMatchObject({ removed: 1 })
  })

  it('sees the end of a run that nobody follows, so that its task expires', async () => {
    const { service, store, backend, clock } = await running()
    backend.set('rb-1', { state: 'succeeded' })
    await clock.advance(3_600_000)
    expect((await service.sweep()).settled).toBe(0)
    // A little more than an hour.
    await clock.advance(602_000)
    expect((await service.sweep()).settled).toBe(1)
    expect(await store.get(key)).toMatchObject({ state: 'succeeded', endedAt: clock.now() })
  })

  it('never reads an ended task again', async () => {
    const { backend, look } = await running()
    backend.set('rb-1', { state: 'failed', error: { code: 'E', message: 'no' } })
    await look()
    const reads = backend.callsOf('get').length
    backend.set('rb-1', { state: 'succeeded' })
    expect((await look()).state).toBe('failed')
    expect(backend.callsOf('get')).toHaveLength(reads)
  })

  it('gives the backend back its marks', async () => {
    const { backend, look } = await running()
    const run = backend.runs.get('rb-1')!
    run.marks = { lastEvent: 7 }
    await look()
    await look()
    expect(backend.callsOf('get').at(-1)?.marks).toEqual({ lastEvent: 7 })
  })

  it('shows an outage as not readable since, for days, and then the truth', async () => {
    const { backend, clock, look } = await running()
    backend.script('get', down, down)
    const since = clock.now() + 60_000
    expect(await look()).toMatchObject({
      state: 'running',
      unreadable: { since, reason: 'the engine is down' },
    })
    await clock.advance(3 * 86_400_000)
    expect(await look()).toMatchObject({ state: 'running', unreadable: { since } })
    backend.set('rb-1', { state: 'succeeded' })
    expect((await look()).state).toBe('succeeded')
  })

  it('survives a backend that throws', async () => {
    const { backend, look } = await running()
    const get = backend.get
    backend.get = () => Promise.reject(new Error('a defect'))
    expect(await look()).toMatchObject({ state: 'running', unreadable: { code: 'internal' } })
    backend.get = get
    expect((await look()).unreadable).toBeUndefined()
  })

  it('calls a run lost that the engine denies for longer than the grace', async () => {
    const { backend, service, clock } = await running()
    backend.forget('rb-1')
    await clock.advance(2_000)
    expect((await service.get(key)).record.state).toBe('running')
    await clock.advance(VISIBILITY_MS + CLOCK_ALLOWANCE_MS)
    expect((await service.get(key)).record).toMatchObject({
      state: 'lost',
      failure: { code: 'unknown_outcome' },
    })
  })

  it('takes hints as reasons to read now, and drops those of runs it does not know', async () => {
    const { service, backend } = await running()
    backend.set('rb-1', { state: 'succeeded' })
    await service.hint({ run: { id: 'somebody-else', attempt: 0 } })
    await service.hint({ runKey: 'rb-1' })
    await service.hint({ runKey: 'rb-1' })
    expect(backend.callsOf('get')).toHaveLength(1)
    expect((await service.get(key)).record.state).toBe('succeeded')
  })

  it('keeps tasks whose tool is no longer configured as they are', async () => {
    const { replica, backend, clock } = await running()
    backend.set('rb-1', { state: 'succeeded' })
    await clock.advance(60_000)
    expect((await replica({ tools: [] }).get(key)).record).toMatchObject({
      state: 'running',
      unreadable: { code: 'misconfigured' },
    })
    await clock.advance(120_000)
    expect((await replica().get(key)).record.state).toBe('succeeded')
  })
})

describe('waiting', () => {
  const signal = new AbortController().signal

  it('returns when the task ends, with every change on the way', async () => {
    const { service, backend, clock } = await running({ autoAdvance: false })
    const changes: string[] = []
    const waited = service.wait(key, {
      waitMs: 45_000,
      signal,
      onChange: (task) => changes.push(task.record.state),
    })
    await clock.advance(1_000)
    backend.openGate('rb-1', { id: 'approve' })
    await clock.advance(2_000)
    backend.set('rb-1', { state: 'succeeded' })
    await clock.advance(5_000)
    expect((await waited).record.state).toBe('succeeded')
    expect(changes).toEqual(['running', 'waiting', 'succeeded'])
  })

  it('returns what it last saw when the time is up or the caller leaves; the run goes on', async () => {
    const { service, clock, backend } = await running({ autoAdvance: false })
    const waited = service.wait(key, { waitMs: 3_000, signal })
    await clock.advance(3_000)
    expect((await waited).record.state).toBe('running')
    const leaving = new AbortController()
    const left = service.wait(key, { waitMs: 60_000, signal: leaving.signal })
    leaving.abort()
    expect((await left).record.state).toBe('running')
    expect(backend.callsOf('cancel')).toHaveLength(0)
  })

  it('is woken by a change that another caller of this process makes', async () => {
    const { service, backend, clock } = await running({ autoAdvance: false })
    await clock.advance(30_000)
    await service.get(key)
    const waited = service.wait(key, { waitMs: 45_000, signal })
    await clock.advance(0)
    backend.set('rb-1', { state: 'succeeded' })
    await service.hint({ runKey: 'rb-1' })
    expect((await waited).record.state).toBe('succeeded')
  })

  it('leaves nothing at the signal that would have ended it, however often it looked', async () => {
    const { service, clock } = await running({ autoAdvance: false })
    const { signal } = new AbortController()
    const dependents = vi.spyOn(AbortSignal, 'any')
    const waited = service.wait(key, { waitMs: 60_000, signal })
    await clock.advance(60_000)
    await waited
    expect(dependents.mock.calls.filter(([sources]) => [...sources].includes(signal))).toEqual([])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

it('leaves an engine alone for as long as it asks for', async () => {
  const { service, backend, clock } = await running()
  backend.script('get', { ...down, retryAfterMs: 1_800_000 })
  await clock.advance(1_000)
  expect((await service.get(key)).record.unreadable).toMatchObject({ code: 'unavailable' })
  await clock.advance(1_799_000)
  await service.get(key)
  expect(backend.callsOf('get')).toHaveLength(1)
  await clock.advance(1_000)
  expect((await service.get(key)).record).not.toHaveProperty('unreadable')
})

describe('cancelling', () => {
  it('is confirmed by the engine and idempotent', async () => {
    const { service, backend, look } = await running()
    expect((await service.cancel(key, 'enough')).record.state).toBe('running')
    await service.cancel(key, 'again')
    expect(backend.callsOf('cancel').map((call) => call.reason)).toEqual(['enough'])
    expect((await look()).state).toBe('cancelled')
    expect((await service.cancel(key, 'late')).record.state).toBe('cancelled')
  })

  it('leaves the result of a run that finished first', async () => {
    const { service, backend, look } = await running()
    backend.set('rb-1', { state: 'succeeded', output: 1 })
    await service.cancel(key, 'enough')
    expect(await look()).toMatchObject({ state: 'succeeded', snapshot: { output: 1 } })
  })

  it('that can not be sent is sent by the next refresh', async () => {
    const { service, backend, look } = await running()
    backend.script('cancel', { kind: 'failed', error: down.error })
    expect((await service.cancel(key, 'enough')).record.cancel).not.toHaveProperty('sentAt')
    expect((await look()).state).toBe('cancelled')
  })

  it('that can not be sent is sent by the sweeper when nobody asks', async () => {
    const { service, backend } = await running()
    backend.script('cancel', { kind: 'failed', error: down.error })
    await service.cancel(key, 'enough')
    expect((await service.sweep()).settled).toBe(1)
    expect(backend.runs.get('rb-1')?.snapshot.state).toBe('cancelled')
  })

  it('is sent again, harder, when the engine asked for that and the run goes on, also after a restart', async () => {
    const { service, replica, backend, clock } = await running()
    backend.script('cancel', { kind: 'sent', escalateAfterMs: 60_000 }, 'sent_in_vain')
    await service.cancel(key, 'enough')
    const escalations = () => backend.callsOf('cancel').map((call) => call.escalation)
    await clock.advance(59_000)
    await service.get(key)
    await service.sweep()
    expect(escalations()).toEqual([0])
    await clock.advance(2_000)
    await replica().sweep()
    expect(escalations()).toEqual([0, 1])
    await clock.advance(120_000)
    await Promise.all([service.get(key), service.sweep()])
    expect(escalations()).toEqual([0, 1])
    expect((await service.get(key)).record.state).toBe('running')
  })

  it('of what can not be stopped is said and changes nothing', async () => {
    const { service, backend } = await running({ backend: { capabilities: { cancel: false } } })
    expect((await service.cancel(key, 'enough')).record.note).toContain('can not be stopped')
    expect(backend.callsOf('cancel')).toHaveLength(0)
  })
})

describe('answering', () => {
  async function waiting() {
    const world = await running()
    world.backend.openGate('rb-1', { id: 'a' })
    world.backend.openGate('rb-1', { id: 'b' })
    await world.look()
    return world
  }
  const yes = { action: 'accept', content: { approve: true } } as const

  it('delivers before it acknowledges; the task waits until all are answered', async () => {
    const { service, backend } = await waiting()
    const first = await service.answer(key, { 'a.1': yes })
    expect(first.outcomes).toEqual({ 'a.1': 'delivered' })
    expect(first.task.record.state).toBe('waiting')
    expect(backend.runs.get('rb-1')?.answers.get('a')).toEqual(yes)
    expect((await service.answer(key, { 'b.1': { action: 'decline' } })).task.record.state).toBe('running')
  })

  it('applies none when one is invalid', async () => {
    const { service, backend } = await waiting()
    const wrong = service.answer(key, { 'a.1': yes, 'b.1': { action: 'accept', content: {} } })
    await expect(wrong).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('b.1: /approve'),
    })
    expect(backend.callsOf('answer')).toHaveLength(0)
  })

  it('ignores unknown and repeated keys', async () => {
    const { service, backend } = await waiting()
    await service.answer(key, { 'a.1': yes })
    const again = await service.answer(key, { 'a.1': { action: 'decline' }, 'z.9': yes, constructor: yes })
    expect(again.outcomes).toEqual({ 'a.1': 'ignored', 'z.9': 'ignored', constructor: 'ignored' })
    expect(backend.callsOf('answer')).toHaveLength(1)
  })

  it('says when it came too late', async () => {
    const { service, backend } = await waiting()
    backend.closeGate('rb-1', 'a')
    const late = await service.answer(key, { 'a.1': yes })
    expect(late.outcomes).toEqual({ 'a.1': 'too_late' })
    expect(late.task.record.note).toContain('too late')
  })

  it('that could not be delivered can be sent again; what was delivered before it stays', async () => {
    const { service, backend } = await waiting()
    backend.script('answer', { kind: 'delivered' }, { kind: 'failed', error: down.error })
    await expect(service.answer(key, { 'a.1': yes, 'b.1': yes })).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect((await service.get(key)).questions.map((question) => question.key)).toEqual(['b.1'])
    expect((await service.answer(key, { 'b.1': yes })).outcomes).toEqual({ 'b.1': 'delivered' })
  })

  it('that is dismissed is asked again under another key', async () => {
    const { service, backend } = await waiting()
    const dismissed = await service.answer(key, { 'a.1': { action: 'cancel' } })
    expect(dismissed.task.questions.map((question) => question.key)).toEqual(['b.1', 'a.2'])
    expect(backend.callsOf('answer')).toHaveLength(0)
  })
})

describe('owners', () => {
  it('get the same answer for an unknown and for a foreign task, in every operation', async () => {
    const { service } = await running()
    const attempts = (owner: string, taskId: string) => [
      service.get({ owner, taskId }),
      service.answer({ owner, taskId }, {}),
      service.cancel({ owner, taskId }, 'enough'),
      service.delete({ owner, taskId }),
      service.wait({ owner, taskId }, { waitMs: 0, signal: new AbortController().signal }),
    ]
    const refusal = async (attempt: Promise<unknown>) =>
      attempt.then(
        () => 'answered',
        ({ code, message }: RunbridgeError) => ({ code, message }),
      )
    const foreign = await Promise.all(attempts('bob', 'tsk_1').map(refusal))
    const unknown = await Promise.all(attempts('bob', 'tsk_2').map(refusal))
    expect(foreign).toEqual(unknown)
    expect(new Set(foreign.map((one) => JSON.stringify(one))).size).toBe(1)
    expect((await service.list('bob', {}, { limit: 10 })).tasks).toEqual([])
  })
})

describe('deleting', () => {
  it('is for ended tasks only', async () => {
    const { service, backend, look } = await running()
    await expect(service.delete(key)).rejects.toMatchObject({ code: 'conflict' })
    backend.set('rb-1', { state: 'succeeded' })
    await look()
    await service.delete(key)
    await expect(service.get(key)).rejects.toMatchObject({ code: 'task_not_found' })
  })
})
