import type { CreateOutcome, TaskService } from '@runbridge/core'
import { describe, expect, it } from 'vitest'
import { CLOCK_ALLOWANCE_MS, created, createWorld, START_TIMEOUT_MS, VISIBILITY_MS } from './world.js'

const SETTLE_MS = START_TIMEOUT_MS + CLOCK_ALLOWANCE_MS + VISIBILITY_MS
const key = { owner: 'alice', taskId: 'mine-1' }
const MINE = { form: 'sep-1686', taskId: key.taskId, idKnown: true } as const

/** The first task under a client's own id is settled as lost and deleted, and the id used again, as rb-2. */
async function reused({ clock, replica, request }: ReturnType<typeof createWorld>): Promise<TaskService> {
  const other = replica()
  clock.jump(SETTLE_MS)
  expect((await other.get(key)).record.state).toBe('lost')
  await other.delete(key)
  await created(other.create(request({ ...MINE, input: { version: '2' } })))
  return other
}

/** A starter that is held up between its record and its start. */
function stalled({ replica, request }: ReturnType<typeof createWorld>) {
  let goOn: (thrown?: Error) => void = () => {}
  const waiting = new Promise<void>((resolve, reject) => {
    goOn = (thrown) => (thrown ? reject(thrown) : resolve())
  })
  const outcome = replica().create(request({ ...MINE, onRecorded: () => waiting }))
  outcome.catch(() => undefined)
  return { outcome, goOn: (thrown?: Error) => goOn(thrown) }
}

describe('a starter that wakes when its id stands for another task', () => {
  it('does not fail that task for a start of its own that it never sent', async () => {
    const world = createWorld()
    const { outcome, goOn } = stalled(world)
    const other = await reused(world)
    goOn()
    expect(await outcome).toMatchObject({ kind: 'refused', error: { code: 'unavailable' } })
    expect((await other.get(key)).record).toMatchObject({ state: 'running', runKey: 'rb-2' })
    expect(world.backend.executions).toHaveLength(1)
  })

  it('does not touch it while it is being started, in the version that its own had', async () => {
    const world = createWorld()
    const { outcome, goOn } = stalled(world)
    world.clock.jump(SETTLE_MS)
    const other = world.replica()
    await other.get(key)
    await other.delete(key)
    const held = world.backend.hold('start')
    const second = other.create(world.request({ ...MINE, input: { version: '2' } }))
    await held.arrived
    const before = await world.store.get(key)
    expect(before).toMatchObject({ state: 'starting', version: 1, runKey: 'rb-2' })
    goOn()
    await outcome
    expect(await world.store.get(key)).toEqual(before)
    held.release()
    expect((await created(second)).record).toMatchObject({ state: 'running', run: { id: 'run-1' } })
  })

  it('does not take it away when its own call could not be told', async () => {
    const world = createWorld()
    const { outcome, goOn } = stalled(world)
    const other = await reused(world)
    goOn(new Error('the client is gone'))
    await expect(outcome).rejects.toThrow('the client is gone')
    expect((await other.get(key)).record).toMatchObject({ state: 'running', runKey: 'rb-2' })
  })

  it('does not let it follow the run that it started after all, and says which run that is', async () => {
    const world = createWorld({ autoAdvance: false })
    const held = world.backend.hold('start')
    const outcome: Promise<CreateOutcome> = world
      .replica({ attemptTimeoutMs: 10 * SETTLE_MS, startTimeoutMs: START_TIMEOUT_MS })
      .create(world.request(MINE))
    outcome.catch(() => undefined)
    await held.arrived
    const other = await reused(world)
    held.release()
    await expect(outcome).rejects.toMatchObject({
      code: 'unknown_outcome',
      message: expect.stringMatching(/The run run-2 started, .* the id used again.* run key is rb-1/),
    })
    expect((await other.get(key)).record).toMatchObject({ runKey: 'rb-2', run: { id: 'run-1' } })
  })
})
