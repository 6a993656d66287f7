import { RunbridgeError } from '@runbridge/core'
import { sealed } from '@runbridge/stores/sealed'
import { describe, expect, it } from 'vitest'
import { CLOCK_ALLOWANCE_MS, created, createWorld, START_TIMEOUT_MS, VISIBILITY_MS } from './world.js'

const SETTLES_AFTER_MS = START_TIMEOUT_MS + CLOCK_ALLOWANCE_MS + VISIBILITY_MS
const down = new RunbridgeError('unavailable', 'the engine is down')
const watch = { name: 'watch', attach: { cancel: false } }

type World = ReturnType<typeof createWorld>

/** Whom the engine was asked for, by what, in the order of the calls. */
const asked = ({ backend }: World) => backend.calls.map(({ method, owner }) => `${method} ${owner}`)

async function followed(world: World = createWorld()) {
  const { record } = await created(world.service.create(world.request({ owner: 'bob' })))
  return { ...world, record }
}

describe('the engine is told whose task a call is for', () => {
  it('at a start, by the caller', async () => {
    expect(asked(await followed())).toEqual(['start bob'])
  })

  it('at a start that is looked for and sent again', async () => {
    const world = createWorld()
    world.backend.script('start', 'unknown_and_nothing_happened')
    await followed(world)
    expect(asked(world)).toEqual(['start bob', 'find bob', 'start bob'])
  })

  it('at a start that the sweeper settles', async () => {
    const world = createWorld()
    const held = world.backend.hold('start')
    const abandoned = world.service.create(world.request({ owner: 'bob' }))
    await held.arrived
    await world.clock.advance(SETTLES_AFTER_MS + 1)
    await world.replica().sweep()
    expect(asked(world)).toContain('find bob')
    expect(new Set(world.backend.calls.map(({ owner }) => owner))).toEqual(new Set(['bob']))
    held.release()
    await abandoned
  })

  it('at looks: of a caller, of a hint and of the sweeper', async () => {
    const world = await followed()
    const { service, clock, record } = world
    await clock.advance(60_000)
    await service.get(record)
    await service.hint({ runKey: record.runKey })
    await service.hint({ run: { id: 'run-1', attempt: 0 } })
    await clock.advance(2 * 3_600_000)
    await service.sweep()
    expect(asked(world)).toEqual(['start bob', ...Array(4).fill('get bob')])
  })

  it('at a wish to cancel, also where the sweeper sends it again', async () => {
    const world = await followed()
    world.backend.script('cancel', { kind: 'failed', error: down })
    await world.service.cancel(world.record, 'enough')
    await world.service.sweep()
    expect(asked(world)).toEqual(['start bob', 'cancel bob', 'cancel bob', 'get bob'])
  })

  it('at a task that is cancelled for good', async () => {
    const world = await followed()
    await world.service.seal(world.record, 'enough')
    expect(asked(world)).toEqual(['start bob', 'cancel bob'])
  })

  it('at an answer', async () => {
    const world = await followed()
    world.backend.openGate('rb-1', { id: 'approve' })
    await world.clock.advance(60_000)
    const [question] = (await world.service.get(world.record)).questions
    const accept = { action: 'accept', content: { approve: true } } as const
    await world.service.answer(world.record, { [question?.key ?? '']: accept })
    expect(asked(world)).toEqual(['start bob', 'get bob', 'answer bob'])
  })

  it('where no record is kept, by the owner who shows the id', async () => {
    const keys = ['a random text of more than 32 characters']
    let now = () => 0
    const world = createWorld({ store: sealed({ keys, now: () => now() }) })
    now = () => world.clock.now()
    const { service, record } = await followed(world)
    await service.get(record)
    await service.cancel(record, 'enough')
    expect(asked(world)).toEqual(['start bob', 'get bob', 'cancel bob'])
  })
})

it('a call for a task does not compile without its owner', () => {
  const { signal } = new AbortController()
  const { backend } = createWorld()
  // @ts-expect-error
  expect(() => backend.start({ id: 'arn:deploy' }, 'rb-1', {}, { signal })).not.toThrow()
})

describe('several owners who watch one run', () => {
  async function watching(actsAsOwner: boolean) {
    const world = createWorld({ backend: { actsAsOwner }, others: [watch] })
    const context = { signal: new AbortController().signal, owner: 'somebody' }
    await world.backend.start({ id: 'arn:deploy' }, 'foreign', {}, context)
    const attach = (owner: string) =>
      created(world.service.attach({ owner, tool: 'watch', form: 'ext-tasks', reference: 'run-1' }))
    const tasks = [await attach('ada'), await attach('bob'), await attach('ada')]
    await world.clock.advance(60_000)
    for (const { record } of tasks) await world.service.get(record)
    return asked(world).slice(1)
  }

  it('share its looks', async () => {
    expect(await watching(false)).toEqual(['attach ada', 'get ada'])
  })

  it('each see it with their own credentials where the engine has some for each', async () => {
    expect(await watching(true)).toEqual(['attach ada', 'attach bob', 'get ada', 'get bob'])
  })
})
