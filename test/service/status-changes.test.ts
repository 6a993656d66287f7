import { statusChangePattern, statusChanges } from '@runbridge/step-functions'
import { describe, expect, it } from 'vitest'
import { created, createWorld } from './world.js'

const MACHINE = 'arn:aws:states:eu-central-1:111122223333:stateMachine:deploy'
const key = { owner: 'alice', taskId: 'tsk_1' }

/** An event as EventBridge sends it, cut to what says something. */
function event(name: string, status: string, detail: object = {}) {
  const executionArn = `arn:aws:states:eu-central-1:111122223333:execution:deploy:${name}`
  return {
    version: '0',
    id: '315c1398-40ff-a850-213b-158f73e60175',
    'detail-type': 'Step Functions Execution Status Change',
    source: 'aws.states',
    account: '111122223333',
    region: 'eu-central-1',
    resources: [executionArn],
    detail: { executionArn, stateMachineArn: MACHINE, name, status, ...detail },
  }
}

function watched(arns: readonly string[] = [MACHINE]) {
  const world = createWorld({ autoAdvance: false })
  const take = statusChanges({ stateMachineArns: arns, hint: world.service.hint })
  const state = async () => (await world.store.get(key))?.state
  return { ...world, take, state }
}

describe('a status change', () => {
  it('refreshes its task at once, before the interval is over', async () => {
    const { service, backend, take, state, request } = watched()
    await created(service.create(request()))
    backend.set('rb-1', { state: 'succeeded', output: 'done' })
    await service.get(key)
    expect(await state()).toBe('running')
    expect(await take(event('rb-1', 'SUCCEEDED'))).toBe(true)
    expect(await state()).toBe('succeeded')
  })

  it('is not believed: the run is read again, with the output that large events leave out', async () => {
    const { service, backend, take, store, request } = watched()
    await created(service.create(request()))
    await take(event('rb-1', 'FAILED', { error: 'Forged' }))
    expect((await store.get(key))?.state).toBe('running')
    const output = 'x'.repeat(250_000)
    backend.set('rb-1', { state: 'succeeded', output })
    await take(event('rb-1', 'SUCCEEDED', { output: null, outputDetails: { included: false } }))
    expect((await store.get(key))?.snapshot?.output).toBe(output)
  })

  it('that is lost costs time and nothing else: the next poll finds the end', async () => {
    const { service, backend, clock, request } = watched()
    await created(service.create(request()))
    backend.set('rb-1', { state: 'failed', error: { code: 'Boom', message: 'It broke.' } })
    clock.jump(60_000)
    expect((await service.get(key)).record.state).toBe('failed')
  })

  it('that comes again, or after a later one, changes nothing', async () => {
    const { service, backend, take, store, request } = watched()
    await created(service.create(request()))
    backend.set('rb-1', { state: 'succeeded', output: 1 })
    await take(event('rb-1', 'SUCCEEDED'))
    const ended = await store.get(key)
    const reads = backend.callsOf('get').length
    for (const late of ['SUCCEEDED', 'RUNNING', 'ABORTED']) await take(event('rb-1', late))
    expect(await store.get(key)).toEqual(ended)
    expect(backend.callsOf('get')).toHaveLength(reads)
  })

  it('that comes before there is a record is dropped; the record is settled by who made it', async () => {
    const { service, backend, take, state, request } = watched()
    expect(await take(event('rb-1', 'SUCCEEDED'))).toBe(true)
    expect(await state()).toBeUndefined()
    await created(service.create(request()))
    expect(await state()).toBe('running')
    expect(backend.callsOf('start')).toHaveLength(1)
  })

  it('in the middle of a start waits for nobody and starts nothing', async () => {
    const { service, backend, take, state, request } = watched()
    let during: Promise<unknown> | undefined
    const onRecorded = async () => {
      during = take(event('rb-1', 'RUNNING'))
      await during
    }
    await created(service.create(request({ onRecorded })))
    expect(await during).toBe(true)
    expect([await state(), backend.callsOf('start').length]).toEqual(['running', 1])
  })

  it('of other state machines, other accounts and runs that are not ours is taken and dropped', async () => {
    const hinted: string[] = []
    const hint = async ({ runKey }: { runKey: string }) => void hinted.push(runKey)
    const take = statusChanges({ stateMachineArns: [`${MACHINE}:live`], hint })
    const at = (executionArn: string) => take(event('rb-1', 'SUCCEEDED', { executionArn }))
    expect(await at('arn:aws:states:eu-central-1:111122223333:execution:other:rb-1')).toBe(true)
    await at('arn:aws:states:eu-central-1:999999999999:execution:deploy:rb-1')
    await at('arn:aws:states:us-east-1:111122223333:execution:deploy:rb-1')
    await at('arn:aws:states:eu-central-1:111122223333:execution:deploy:nightly')
    await at('nonsense')
    expect(hinted).toEqual([])
    await take(event('rb-1', 'SUCCEEDED'))
    expect(hinted).toEqual(['rb-1'])
  })

  it('is told from other events', async () => {
    const { take } = watched()
    expect(await take({ ...event('rb-1', 'SUCCEEDED'), source: 'aws.ec2' })).toBe(false)
    expect(await take({ runbridge: 'sweep' })).toBe(false)
    expect(await take(undefined)).toBe(false)
  })

  it('that can not be worked off fails, so that it is sent again', async () => {
    const hint = () => Promise.reject(new Error('the table is throttled'))
    const take = statusChanges({ stateMachineArns: [MACHINE], hint })
    await expect(take(event('rb-1', 'SUCCEEDED'))).rejects.toThrow('throttled')
  })
})

it('the pattern of the rule names each state machine once, without version, and our prefix', () => {
  expect(statusChangePattern({ stateMachineArns: [MACHINE, `${MACHINE}:live`, `${MACHINE}:3`] })).toEqual({
    source: ['aws.states'],
    detailType: ['Step Functions Execution Status Change'],
    detail: {
      stateMachineArn: [MACHINE],
      name: [{ prefix: 'rb-' }],
      status: ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED', 'PENDING_REDRIVE'],
    },
  })
})
