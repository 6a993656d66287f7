import { expect, it } from 'vitest'
import { created, createWorld } from './world.js'

const key = { owner: 'alice', taskId: 'tsk_1' }

function recording() {
  const lines: { fields: object; message: string }[] = []
  const write = (fields: object, message: string) => void lines.push({ fields, message })
  return { lines, log: { info: write, warn: write, error: write } }
}

async function sealed(options: Parameters<typeof createWorld>[0] = {}) {
  const world = createWorld(options)
  const { lines, log } = recording()
  const service = world.replica({ log })
  await created(service.create(world.request({ form: 'core-2025-11-25' })))
  return { ...world, service, ends: () => lines.filter(({ message }) => message.includes('has ended')) }
}

it('sealing cancels the task at once and sends the wish; the true end of the run goes to the log', async () => {
  const { service, backend, clock, ends } = await sealed()
  backend.script('cancel', 'sent_in_vain')
  const { record } = await service.seal(key, 'enough')
  expect(record).toMatchObject({ state: 'cancelled', cancel: { reason: 'enough' } })
  expect(backend.callsOf('cancel')).toHaveLength(1)
  backend.set('rb-1', { state: 'succeeded', output: 'done' })
  await clock.advance(2_000)
  await service.sweep()
  expect(ends()).toEqual([
    {
      fields: { owner: 'alice', taskId: 'tsk_1', tool: 'deploy', run: 'run-1', runEnd: 'succeeded' },
      message: 'the run of a cancelled task has ended',
    },
  ])
  expect((await service.get(key)).record).toMatchObject({ state: 'cancelled', updatedAt: record.updatedAt })
  await clock.advance(60_000)
  await service.sweep()
  expect(ends()).toHaveLength(1)
})

it('a wish that could not be sent is sent later, by whichever replica sweeps', async () => {
  const { service, backend, clock, replica } = await sealed()
  const { RunbridgeError } = await import('@runbridge/core')
  backend.script('cancel', { kind: 'failed', error: new RunbridgeError('unavailable', 'down') })
  await service.seal(key, 'enough')
  expect(backend.executions[0]?.cancels).toEqual([])
  await clock.advance(2_000)
  await replica().sweep()
  expect(backend.executions[0]?.cancels).toEqual(['enough'])
})

it('a task that has ended can not be sealed, nor one that was sealed', async () => {
  const { service, backend, clock } = await sealed()
  await service.seal(key, 'enough')
  await expect(service.seal(key, 'again')).rejects.toMatchObject({ code: 'conflict' })
  await created(service.create({ owner: 'alice', tool: 'deploy', form: 'core-2025-11-25', input: {} }))
  backend.set('rb-2', { state: 'succeeded' })
  await clock.advance(2_000)
  await service.get({ ...key, taskId: 'tsk_2' })
  await expect(service.seal({ ...key, taskId: 'tsk_2' }, 'late')).rejects.toMatchObject({ code: 'conflict' })
})

it('a run that can not be stopped is not asked to, and followed to its end', async () => {
  const { service, backend, clock, ends } = await sealed({ backend: { capabilities: { cancel: false } } })
  expect((await service.seal(key, 'enough')).record.state).toBe('cancelled')
  expect(backend.callsOf('cancel')).toEqual([])
  backend.set('rb-1', { state: 'failed' })
  await clock.advance(2_000)
  await service.sweep()
  expect(ends()).toHaveLength(1)
})

it('the record is durable before the start is sent, and its maker is told', async () => {
  const { store, backend, request, service } = createWorld()
  const seen: unknown[] = []
  const onRecorded = async () => {
    seen.push((await store.get(key))?.state, backend.callsOf('start').length)
  }
  await service.create(request({ onRecorded }))
  expect(seen).toEqual(['starting', 0])
})
