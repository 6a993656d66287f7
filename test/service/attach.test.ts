import { RunbridgeError } from '@runbridge/core'
import { describe, expect, it } from 'vitest'
import { created, createWorld } from './world.js'

const watch = { name: 'watch', attach: { cancel: false } }
const stop = { name: 'stop', attach: { cancel: true } }

/** A run that somebody else started, in an engine with a tool that watches its workflow. */
async function elsewhere() {
  const world = createWorld({ others: [watch, stop] })
  const { backend, service, clock } = world
  await backend.start(
    { id: 'arn:deploy' },
    'foreign',
    {},
    { signal: new AbortController().signal, owner: 'alice' },
  )
  const reference = 'run-1'
  const attach = (changes = {}) =>
    service.attach({ owner: 'alice', tool: 'watch', form: 'ext-tasks', reference, ...changes })
  const look = async (key = { owner: 'alice', taskId: 'tsk_1' }) => {
    await clock.advance(60_000)
    return (await service.get(key)).record
  }
  return { ...world, attach, look }
}

describe('attaching', () => {
  it('leaves a durable task that follows the run and started none', async () => {
    const { attach, store, backend, look } = await elsewhere()
    const { record } = await created(attach())
    expect(record).toMatchObject({ state: 'running', run: { id: 'run-1', attempt: 0 }, attached: true })
    expect(await store.get(record)).toEqual(record)
    backend.openGate('foreign', { id: 'approve' })
    expect((await look()).state).toBe('waiting')
    backend.set('foreign', { state: 'succeeded', output: 'done' })
    expect(await look()).toMatchObject({ state: 'succeeded', snapshot: { output: 'done' } })
    expect(backend.executions).toHaveLength(1)
  })

  it('reads the run at the first look', async () => {
    const { attach, service, backend } = await elsewhere()
    backend.set('foreign', { state: 'failed', error: { code: 'E', message: 'no' } })
    const { record } = await created(attach())
    expect((await service.get(record)).record.state).toBe('failed')
  })

  it('lets several tasks follow one run, each to the same end', async () => {
    const { attach, service, backend, look } = await elsewhere()
    const mine = await created(attach())
    const again = await created(attach())
    const other = await created(attach({ owner: 'bob' }))
    expect(new Set([mine, again, other].map(({ record }) => record.taskId)).size).toBe(3)
    backend.set('foreign', { state: 'succeeded' })
    for (const { record } of [mine, again, other]) expect((await look(record)).state).toBe('succeeded')
    await expect(service.get({ owner: 'bob', taskId: mine.record.taskId })).rejects.toMatchObject({
      code: 'task_not_found',
    })
  })

  it('asks the engine once for a run that is followed right now, and again when nobody looked at it for long', async () => {
    const { attach, backend, look, clock } = await elsewhere()
    await attach()
    await attach({ owner: 'bob' })
    expect(backend.callsOf('attach')).toHaveLength(1)
    expect(await attach({ owner: 'bob', tool: 'stop', reference: 'run-9' })).toMatchObject({
      kind: 'refused',
    })
    await clock.advance(60_001)
    await attach()
    expect(backend.callsOf('attach')).toHaveLength(3)
    backend.set('foreign', { state: 'succeeded' })
    for (const taskId of ['tsk_1', 'tsk_3']) await look({ owner: 'alice', taskId })
    await attach()
    expect(backend.callsOf('attach')).toHaveLength(4)
  })

  it('is refused for a run that is not of the tool’s workflow, or is none, and leaves nothing', async () => {
    const { attach, backend, store } = await elsewhere()
    await backend.start(
      { id: 'arn:other' },
      'other',
      {},
      { signal: new AbortController().signal, owner: 'alice' },
    )
    for (const reference of ['run-2', 'nothing']) {
      expect(await attach({ reference })).toMatchObject({ kind: 'refused', error: { code: 'invalid_input' } })
    }
    expect((await store.list('alice', {}, 10)).records).toEqual([])
  })

  it('is refused with what the engine threw, and where the engine can’t be watched', async () => {
    const { attach, backend } = await elsewhere()
    backend.script('attach', { kind: 'refused', error: new RunbridgeError('unavailable', 'down') })
    expect(await attach()).toMatchObject({ kind: 'refused', error: { code: 'unavailable' } })
    backend.attach = () => Promise.reject(new Error('a defect'))
    expect(await attach()).toMatchObject({ kind: 'refused', error: { code: 'internal' } })
    Reflect.deleteProperty(backend, 'attach')
    expect(await attach()).toMatchObject({ kind: 'refused', error: { code: 'unsupported' } })
  })

  it('is no way around a tool that starts runs', async () => {
    const { attach } = await elsewhere()
    await expect(attach({ tool: 'deploy' })).rejects.toMatchObject({ code: 'misconfigured' })
  })

  it('sent again with the same ids gets the same task, also when the engine has forgotten the run', async () => {
    const { attach, backend, store } = await elsewhere()
    const sealed = { taskId: 'tsk_sealed', runKey: 'rb-sealed' }
    const outcomes = await Promise.all([attach(sealed), attach(sealed)])
    expect(outcomes.map(({ kind }) => kind)).toEqual(['task', 'task'])
    backend.forget('foreign')
    expect(await attach(sealed)).toMatchObject({ replayed: true, task: { record: { taskId: 'tsk_sealed' } } })
    expect(await attach({ ...sealed, reference: 'run-9' })).toMatchObject({ kind: 'refused' })
    expect((await store.list('alice', {}, 10)).records).toHaveLength(1)
  })
})

describe('cancelling a task that only watches', () => {
  it('is acknowledged, says why it changes nothing, and never reaches the engine', async () => {
    const { attach, service, backend, look } = await elsewhere()
    const { record } = await created(attach())
    const cancelled = await service.cancel(record, 'enough')
    expect(cancelled.record.note).toContain('only watches')
    expect(cancelled.record.cancel).toBeUndefined()
    await service.sweep()
    expect((await look()).state).toBe('running')
    expect(backend.callsOf('cancel')).toHaveLength(0)
  })

  it('stays so when its tool is not configured any more', async () => {
    const { attach, replica, backend } = await elsewhere()
    const { record } = await created(attach())
    expect((await replica({ tools: [] }).cancel(record, 'enough')).record.note).toContain('only watches')
    expect(backend.callsOf('cancel')).toHaveLength(0)
  })

  it('ends the task alone where a form demands an end at once', async () => {
    const { attach, service, backend } = await elsewhere()
    const { record } = await created(attach())
    expect((await service.seal(record, 'enough')).record).toMatchObject({ state: 'cancelled' })
    await service.sweep()
    expect(backend.callsOf('cancel')).toHaveLength(0)
  })

  it('stops the run where the tool permits it', async () => {
    const { attach, service, backend, look } = await elsewhere()
    const { record } = await created(attach({ tool: 'stop' }))
    await service.cancel(record, 'enough')
    expect(backend.callsOf('cancel').map((call) => call.reason)).toEqual(['enough'])
    expect((await look()).state).toBe('cancelled')
  })
})
