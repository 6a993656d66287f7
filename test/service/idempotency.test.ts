import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CREATE_STEPS, type CreateRequest, isTerminal } from '@runbridge/core'
import { sqlite } from '@runbridge/stores/sqlite'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { created, createWorld, START_TIMEOUT_MS } from './world.js'

const keyed = { tool: { idempotencyKey: ['version'] } }
const alice = (taskId: string) => ({ owner: 'alice', taskId })

describe('equal calls', () => {
  it('get the task of the first while it is alive, however its other arguments differ', async () => {
    const { service, backend, request, store } = createWorld(keyed)
    const first = await created(service.create(request({ input: { version: '1', note: 'a' } })))
    const again = await service.create(request({ input: { note: 'b', version: '1' } }))
    expect(again).toMatchObject({ kind: 'task', replayed: true, task: { record: { taskId: 'tsk_1' } } })
    expect(first.record.taskId).toBe('tsk_1')
    expect(backend.executions).toHaveLength(1)
    expect((await store.list('alice', {}, 10)).records).toHaveLength(1)
  })

  it('are those of one owner, one tool and equal values', async () => {
    const { service, backend, request } = createWorld({ ...keyed, others: [{ name: 'other' }] })
    const input = { version: { n: 1, list: [1, 2] } }
    await service.create(request({ input }))
    await service.create(request({ input: { version: { list: [1, 2], n: 1 } } }))
    expect(backend.executions).toHaveLength(1)
    await service.create(request({ input, owner: 'bob' }))
    await service.create(request({ input, tool: 'other' }))
    await service.create(request({ input: { version: { n: 1, list: [2, 1] } } }))
    await service.create(request({ input: {} }))
    await service.create(request({ input: { version: null } }))
    expect(backend.executions).toHaveLength(6)
  })

  it('start anew once the task has ended, is deleted or has expired', async () => {
    const { service, backend, request, clock } = createWorld(keyed)
    const end = async (runKey: string, taskId: string) => {
      backend.set(runKey, { state: 'succeeded' })
      await clock.advance(60_000)
      expect((await service.get(alice(taskId))).record.state).toBe('succeeded')
    }
    const next = async () => (await created(service.create(request()))).record
    const first = await next()
    await end(first.runKey, first.taskId)
    const second = await next()
    await end(second.runKey, second.taskId)
    await service.delete(second)
    const third = await next()
    await end(third.runKey, third.taskId)
    await clock.advance(3_600_001)
    await service.sweep()
    const fourth = await next()
    expect(new Set([first, second, third, fourth].map(({ taskId }) => taskId)).size).toBe(4)
    expect(await next()).toMatchObject({ taskId: fourth.taskId })
    expect(backend.executions).toHaveLength(4)
  })

  it('wait for the starter that is under way, and leave no record of their own', async () => {
    const { replica, backend, request, store, clock } = createWorld({ ...keyed, autoAdvance: false })
    const held = backend.hold('start')
    const first = replica().create(request())
    await held.arrived
    const second = replica().create(request())
    await clock.advance(1_000)
    expect((await store.list('alice', {}, 10)).records).toHaveLength(1)
    held.release()
    await clock.advance(1_000)
    expect((await created(second)).record).toMatchObject({ taskId: 'tsk_1', state: 'running', idKnown: true })
    expect((await created(first)).record.taskId).toBe('tsk_1')
  })

  it('start anew when the start that they waited for was refused', async () => {
    const { replica, backend, request, clock } = createWorld({ ...keyed, autoAdvance: false })
    const held = backend.hold('start')
    const first = replica().create(request())
    await held.arrived
    const second = replica().create(request())
    await clock.advance(1_000)
    const { RunbridgeError } = await import('@runbridge/core')
    held.release({ kind: 'refused', error: new RunbridgeError('denied', 'no') })
    await clock.advance(1_000)
    expect(await first).toMatchObject({ kind: 'refused' })
    expect((await created(second)).record.state).toBe('running')
    expect(backend.executions).toHaveLength(1)
  })

  it('make a task of a plain one for a caller that has tasks, and stay plain for one that has none', async () => {
    const { service, request, store } = createWorld(keyed)
    await service.create(request({ form: 'plain' }))
    await service.create(request({ form: 'plain' }))
    expect((await store.get(alice('tsk_1')))?.form).toBe('plain')
    await service.create(request({ form: 'ext-tasks' }))
    await service.create(request({ form: 'plain' }))
    expect((await store.get(alice('tsk_1')))?.form).toBe('ext-tasks')
  })
})

describe('equal calls of clients that speak another protocol form, or made an id of their own', () => {
  const older = { form: 'core-2025-11-25' } as const
  const made = (taskId: string) => ({ form: 'sep-1686', taskId, idKnown: true }) as const

  it('get a task of their own, of the same run', async () => {
    const { service, backend, request, clock } = createWorld(keyed)
    const recorded: string[] = []
    const onRecorded = async () => void recorded.push('recorded')
    const tasks = [
      await created(service.create(request())),
      await created(service.create(request({ ...older, onRecorded }))),
      await created(service.create(request({ ...made('mine'), onRecorded }))),
      await created(service.create(request(made('mine too')))),
    ].map(({ record }) => record)
    expect(tasks.map(({ form }) => form)).toEqual(['ext-tasks', 'core-2025-11-25', 'sep-1686', 'sep-1686'])
    expect(tasks.map(({ run }) => run?.id)).toEqual(Array(4).fill('run-1'))
    expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(4)
    expect(recorded).toHaveLength(2)
    expect(backend.executions).toHaveLength(1)
    backend.set(tasks[0]!.runKey, { state: 'succeeded' })
    await clock.advance(60_000)
    for (const task of tasks) expect((await service.get(task)).record.state).toBe('succeeded')
    // Its id is taken, whatever it would start.
    expect(await service.create(request(made('mine')))).toMatchObject({ kind: 'refused' })
    expect(backend.executions).toHaveLength(1)
  })

  it('wait for its starter, and start when that came to nothing', async () => {
    const { replica, backend, request, clock, store } = createWorld({ ...keyed, autoAdvance: false })
    const held = backend.hold('start')
    void replica().create(request())
    await held.arrived
    const second = replica().create(request(made('mine')))
    await clock.advance(1_000)
    const { RunbridgeError } = await import('@runbridge/core')
    held.release({ kind: 'refused', error: new RunbridgeError('denied', 'no') })
    await clock.advance(1_000)
    expect((await created(second)).record).toMatchObject({ taskId: 'mine', state: 'running' })
    expect((await store.list('alice', {}, 10)).records).toHaveLength(1)
  })

  it('are refused while nobody knows whether it started, and leave nothing', async () => {
    const { replica, backend, request, clock, store } = createWorld({ ...keyed, autoAdvance: false })
    const held = backend.hold('start')
    void replica({ attemptTimeoutMs: 1e9, startTimeoutMs: 30_000 }).create(request())
    await held.arrived
    const second = replica({ startTimeoutMs: 60_000 }).create(request(older))
    await clock.advance(30_001)
    expect(await second).toMatchObject({ kind: 'refused', error: { code: 'unavailable' } })
    expect((await store.list('alice', {}, 10)).records).toMatchObject([{ taskId: 'tsk_1' }])
  })
})

describe('a call with fixed ids that was answered with another’s task', () => {
  const sealed = { taskId: 'tsk_sealed', runKey: 'rb-sealed', idKnown: true }

  it('gets it again when it is sent again, also once that has ended', async () => {
    const { service, backend, request, clock } = createWorld(keyed)
    const first = await created(service.create(request()))
    const answered = { kind: 'task', replayed: true, task: { record: { taskId: first.record.taskId } } }
    expect(await service.create(request(sealed))).toMatchObject(answered)
    backend.set(first.record.runKey, { state: 'succeeded' })
    await clock.advance(60_000)
    await service.get(first.record)
    expect(await service.create(request(sealed))).toMatchObject(answered)
    expect(backend.executions).toHaveLength(1)
    await service.create(request())
    expect(backend.executions).toHaveLength(2)
  })

  it('that started its own finds it, whatever equal calls did since', async () => {
    const { service, backend, request, clock } = createWorld(keyed)
    const first = await created(service.create(request(sealed)))
    expect(await created(service.create(request()))).toMatchObject({ record: { taskId: 'tsk_sealed' } })
    backend.set(first.record.runKey, { state: 'succeeded' })
    await clock.advance(60_000)
    await service.get(first.record)
    const second = await created(service.create(request()))
    expect(second.record.taskId).not.toBe('tsk_sealed')
    expect((await created(service.create(request(sealed)))).record.taskId).toBe('tsk_sealed')
  })
})

describe('a starter that dies', () => {
  const forever = new Promise<never>(() => {})

  it.each(CREATE_STEPS.slice(0, 8))('at %s leaves no second run behind', async (step) => {
    const { replica, service, backend, store, request, clock } = createWorld({
      ...keyed,
      autoAdvance: true,
    })
    let died: (() => void) | undefined
    const dead = new Promise<void>((resolve) => {
      died = resolve
    })
    // From the step on nothing of this process reaches the store or the engine.
    const gone = new Proxy(store, {
      get: (target, name: keyof typeof store) => {
        const method = target[name] as (...args: unknown[]) => unknown
        return typeof method === 'function'
          ? (...args: unknown[]) => (over ? forever : method.apply(target, args))
          : method
      },
    })
    let over = false
    const start = backend.start
    const dying = replica({
      store: gone,
      onStep: (at) => {
        if (at !== step) return
        over = true
        backend.start = () => forever
        died?.()
      },
    })
    void dying.create(request())
    await dead
    backend.start = start
    await clock.advance(0)
    const { record } = await created(service.create(request()))
    await clock.advance(START_TIMEOUT_MS * 4)
    await service.get(record).catch(() => undefined)
    await service.sweep()
    expect(backend.executions.length).toBeLessThanOrEqual(1)
    for (const { ref } of backend.executions) expect(await store.byRun({ runId: ref.id })).toHaveLength(1)
    // Whoever asks now gets the run that is there, or starts the first.
    const after = (await created(service.create(request()))).record
    expect(backend.executions).toHaveLength(1)
    expect(after.run?.id).toBe(backend.executions[0]?.ref.id)
  })
})

describe('at any interleaving', () => {
  it('one of many equal calls starts, in several processes on one store', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.record({ version: fc.nat(1), sealed: fc.option(fc.nat(1)) }), {
          minLength: 2,
          maxLength: 6,
        }),
        async (scheduler, calls) => {
          const world = createWorld(keyed)
          const slow = new Proxy(world.store, {
            get: (target, name: keyof typeof world.store) => {
              const method = target[name] as (...args: unknown[]) => Promise<unknown>
              return typeof method === 'function'
                ? scheduler.scheduleFunction(method.bind(target) as (...args: unknown[]) => Promise<unknown>)
                : method
            },
          })
          const replicas = [world.replica({ store: slow }), world.replica({ store: slow })]
          const outcomes = Promise.all(
            calls.map(({ version, sealed }, n) => {
              const ids =
                sealed === null
                  ? {}
                  : { taskId: `sealed-${version}-${sealed}`, runKey: `rb-${version}-${sealed}` }
              return replicas[n % 2]!.create(
                world.request({ input: { version }, ...ids } as Partial<CreateRequest>),
              )
            }),
          )
          await scheduler.waitFor(outcomes)
          const versions = new Set(calls.map(({ version }) => version))
          expect(world.backend.executions).toHaveLength(versions.size)
          const { records } = await world.store.list('alice', {}, 100)
          expect(records).toHaveLength(versions.size)
          const tasks = (await outcomes).map((outcome) =>
            outcome.kind === 'task' ? outcome.task.record : undefined,
          )
          for (const version of versions) {
            const ids = tasks.filter((_, n) => calls[n]?.version === version).map((task) => task?.taskId)
            expect(new Set(ids).size).toBe(1)
          }
          expect(tasks.every((task) => task && !isTerminal(task.state))).toBe(true)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('holds on two stores of one SQLite file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'runbridge-equal-'))
    const stores = [sqlite({ path: join(folder, 'db') }), sqlite({ path: join(folder, 'db') })]
    try {
      const world = createWorld({ ...keyed, store: stores[0]! })
      const replicas = stores.map((store) => world.replica({ store }))
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          created(replicas[n % 2]!.create(world.request({ input: { version: n % 3 } }))),
        ),
      )
      expect(world.backend.executions).toHaveLength(3)
      expect(new Set(outcomes.map(({ record }) => record.taskId)).size).toBe(3)
    } finally {
      for (const store of stores) await store.close()
      rmSync(folder, { recursive: true })
    }
  })
})
