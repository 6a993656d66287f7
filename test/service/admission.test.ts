import { RunbridgeError } from '@runbridge/core'
import { describe, expect, it, vi } from 'vitest'
import { created, createWorld } from './world.js'

const full = { kind: 'refused', error: { code: 'limit' } }
const keyed = { tool: { idempotencyKey: ['version'] } }

function bounded(maxOpenTasks: number, options: Parameters<typeof createWorld>[0] = {}) {
  const world = createWorld(options)
  const open = async () => (await world.store.list('alice', {}, 100)).records.length
  return { ...world, open, service: world.replica({ maxOpenTasks }) }
}

describe('the most open tasks of an owner', () => {
  it('are not passed, however many calls come at once; what is refused leaves nothing', async () => {
    const { service, backend, request, open } = bounded(3)
    const calls = Array.from({ length: 20 }, (_, n) => service.create(request({ input: { n } })))
    const outcomes = await Promise.all(calls)
    expect(outcomes.filter(({ kind }) => kind === 'task')).toHaveLength(3)
    expect(outcomes.find(({ kind }) => kind === 'refused')).toMatchObject(full)
    expect(backend.executions).toHaveLength(3)
    expect(await open()).toBe(3)
    expect(await service.create(request({ owner: 'bob' }))).toMatchObject({ kind: 'task' })
  })

  it('nor by replicas at one moment, which would rather refuse all of them', async () => {
    const { replica, backend, request, open } = bounded(3)
    const replicas = Array.from({ length: 4 }, () => replica({ maxOpenTasks: 3 }))
    await Promise.all(replicas.flatMap((each) => [each.create(request()), each.create(request())]))
    expect(backend.executions.length).toBeLessThanOrEqual(3)
    expect(await open()).toBe(backend.executions.length)
  })

  it('end with their runs', async () => {
    const { service, backend, request, clock } = bounded(1)
    const { record } = await created(service.create(request()))
    expect(await service.create(request())).toMatchObject(full)
    backend.set(record.runKey, { state: 'succeeded' })
    await clock.advance(60_000)
    await service.get(record)
    expect(await service.create(request())).toMatchObject({ kind: 'task' })
  })

  it('do not keep an equal call from its task, nor one that is sent again', async () => {
    const { service, backend, request } = bounded(1, keyed)
    const sealed = { taskId: 'tsk_sealed', runKey: 'rb-sealed', idKnown: true }
    const calls = [request(sealed), request(), request(), request(sealed)]
    const outcomes = await Promise.all(calls.map((call) => service.create(call)))
    expect(new Set(outcomes.map((made) => made.kind === 'task' && made.task.record.taskId)).size).toBe(1)
    expect(await service.create(request())).toMatchObject({ kind: 'task', replayed: true })
    expect(await service.create(request(sealed))).toMatchObject({ kind: 'task', replayed: true })
    expect(await service.create(request({ input: { version: '2' } }))).toMatchObject(full)
    expect(backend.executions).toHaveLength(1)
  })

  it('and an id that is taken is said to be taken', async () => {
    const { service, request } = bounded(1)
    const own = { form: 'sep-1686', taskId: 'mine', idKnown: true } as const
    await created(service.create(request(own)))
    expect(await service.create(request(own))).toMatchObject({ error: { code: 'conflict' } })
    const onRecorded = vi.fn()
    expect(await service.create(request({ ...own, taskId: 'other', onRecorded }))).toMatchObject(full)
    await expect(service.get({ owner: 'alice', taskId: 'other' })).rejects.toThrow('Task not found')
    expect(onRecorded).not.toHaveBeenCalled()
  })

  it('count a task of its own of an equal call, and one that watches', async () => {
    const { service, request, open } = bounded(1, {
      ...keyed,
      others: [{ name: 'watch', attach: { cancel: false } }],
    })
    const { record } = await created(service.create(request()))
    const other = { form: 'core-2025-11-25', idKnown: true } as const
    expect(await service.create(request(other))).toMatchObject(full)
    const attach = {
      owner: 'alice',
      tool: 'watch',
      form: 'ext-tasks',
      reference: record.run?.id ?? '',
    } as const
    expect(await service.attach(attach)).toMatchObject(full)
    expect(await open()).toBe(1)
  })

  it('that can not be counted start nothing and leave nothing', async () => {
    const { service, store, backend, request, open } = bounded(2)
    vi.spyOn(store, 'list').mockRejectedValueOnce(new RunbridgeError('unavailable', 'The store is away.'))
    await expect(service.create(request())).rejects.toThrow('The store is away.')
    expect([await open(), backend.executions.length]).toEqual([0, 0])
    expect(await service.create(request())).toMatchObject({ kind: 'task' })
  })

  it('are read page by page where a store gives less than was asked for', async () => {
    const { service, store, request } = bounded(2)
    const list = store.list.bind(store)
    vi.spyOn(store, 'list').mockImplementation((owner, filter, _limit, cursor) =>
      list(owner, filter, 1, cursor),
    )
    await created(service.create(request()))
    await created(service.create(request()))
    expect(await service.create(request())).toMatchObject(full)
  })
})
