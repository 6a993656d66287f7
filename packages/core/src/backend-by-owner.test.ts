import { describe, expect, it } from 'vitest'
import { backendByOwner } from './backend-by-owner.js'
import { RunbridgeError } from './errors.js'
import { type FakeBackend, fakeBackend, manualClock } from './testing/index.js'

const clock = manualClock()
const workflow = { id: 'arn:deploy' }
const run = { id: 'run-1', attempt: 0 }
const gate = { id: 'approve', step: 'approve', prompt: 'Go on?', schema: { type: 'object' } }
const { signal } = new AbortController()
const as = (owner: string) => ({ signal, owner })
const look = (owner: string) => ({ ...as(owner), gates: false, progress: false })

/** One engine for each owner, which none but the calls for that owner reach. */
function engines(...known: string[]) {
  const own = fakeBackend({ clock, name: 'engine' })
  const owners = new Set(known)
  const opened: { owner: string; backend: FakeBackend }[] = []
  const closed: string[] = []
  const backend = backendByOwner({
    own,
    has: (owner) => owners.has(owner),
    open(owner) {
      const theirs = fakeBackend({ clock, name: 'engine' })
      opened.push({ owner, backend: theirs })
      return { backend: theirs, close: () => void closed.push(owner) }
    },
    maxOwners: 2,
  })
  const callsFor = (owner: string) =>
    opened.flatMap((each) => (each.owner === owner ? each.backend.calls.map(({ method }) => method) : []))
  return { own, owners, opened, closed, backend, callsFor }
}

/** Every call that is made for an owner. */
const CALLS = {
  start: (backend, owner) => backend.start(workflow, 'rb-1', {}, as(owner)),
  find: (backend, owner) => backend.find(workflow, 'rb-1', as(owner)),
  get: (backend, owner) => backend.get(workflow, run, look(owner)),
  cancel: (backend, owner) => backend.cancel(workflow, run, 'enough', as(owner)),
  answer: (backend, owner) => backend.answer(workflow, run, gate, { action: 'decline' }, as(owner)),
  call: (backend, owner) => backend.call?.(workflow, {}, as(owner)),
  attach: (backend, owner) => backend.attach?.(workflow, 'run-1', as(owner)),
} as const satisfies Record<string, (backend: FakeBackend, owner: string) => unknown>

const REFUSALS: Readonly<Record<keyof typeof CALLS, string>> = {
  start: 'refused',
  find: 'unreadable',
  get: 'unreadable',
  cancel: 'failed',
  answer: 'failed',
  call: 'refused',
  attach: 'refused',
}

describe.each(Object.keys(CALLS) as (keyof typeof CALLS)[])('%s', (method) => {
  const ask = (backend: unknown, owner: string) => CALLS[method](backend as FakeBackend, owner)

  it("reaches the owner's own engine, and no other", async () => {
    const { own, backend, callsFor } = engines('ada', 'bob')
    await ask(backend, 'bob')
    await ask(backend, 'ada')
    expect([callsFor('ada'), callsFor('bob'), own.calls]).toEqual([[method], [method], []])
  })

  it('reaches nothing for an owner without credentials, and says whose are missing', async () => {
    const { own, opened, backend } = engines('ada')
    const result = await ask(backend, 'eve')
    expect(result).toMatchObject({
      kind: REFUSALS[method],
      error: { code: 'denied', message: expect.stringContaining('for the owner eve') },
    })
    expect([own.calls, opened]).toEqual([[], []])
  })

  it.each(['has', 'open'])('comes to the same where `%s` throws', async (where) => {
    const own = fakeBackend({ clock })
    const no = () => {
      throw new RunbridgeError('unauthenticated', 'no token')
    }
    const backend = backendByOwner({ own, has: () => true, open: () => ({ backend: own }), [where]: no })
    const result = await ask(backend, 'ada')
    expect(result).toMatchObject({ kind: REFUSALS[method], error: { code: 'unauthenticated' } })
    expect(own.calls).toEqual([])
  })
})

it("asks about workflows with the server's own credentials", async () => {
  const { own, opened, backend } = engines('ada')
  await backend.describe(workflow, { signal })
  expect(own.calls).toMatchObject([{ method: 'describe' }])
  expect(opened).toEqual([])
  expect(backend).toMatchObject({ name: 'engine', actsAsOwner: true, references: own.references })
})

it('has what its engine has', () => {
  const { call, attach, references, ...bare } = fakeBackend({ clock })
  const backend = backendByOwner({ own: bare, has: () => true, open: () => ({ backend: bare }) })
  for (const method of ['call', 'attach', 'log', 'discover', 'readQuota'] as const)
    expect(backend[method]).toBeUndefined()
})

it('reads a log with the credentials of its owner alone', async () => {
  const own = { ...fakeBackend({ clock }), log: () => Promise.reject(new Error('with its own')) }
  const log = async (_: unknown, __: unknown, ___: unknown, { owner }: { owner: string }) => ({
    text: owner,
    complete: true,
  })
  const open = () => ({ backend: { ...fakeBackend({ clock }), log } })
  const backend = backendByOwner({ own, has: (owner) => owner === 'ada', open })
  const range = { offset: 0, limit: 10 }
  expect(await backend.log?.(workflow, run, range, as('ada'))).toMatchObject({ text: 'ada' })
  await expect(backend.log?.(workflow, run, range, as('eve'))).rejects.toMatchObject({ code: 'denied' })
})

describe('the backends of owners', () => {
  it('are opened once, also by calls at the same time', async () => {
    const { opened, backend } = engines('ada')
    await Promise.all([CALLS.get(backend as never, 'ada'), CALLS.find(backend as never, 'ada')])
    await backend.get(workflow, run, look('ada'))
    expect(opened).toHaveLength(1)
  })

  it('are closed from the one that was not used for the longest on, and opened again', async () => {
    const { opened, closed, backend } = engines('ada', 'bob', 'eve')
    for (const owner of ['ada', 'bob', 'ada', 'eve']) await backend.get(workflow, run, look(owner))
    await expect.poll(() => closed).toEqual(['bob'])
    await backend.get(workflow, run, look('bob'))
    await expect.poll(() => closed).toEqual(['bob', 'ada'])
    expect(opened.map(({ owner }) => owner)).toEqual(['ada', 'bob', 'eve', 'bob'])
  })

  it('are not closed while a call is under way', async () => {
    const { opened, closed, backend } = engines('ada', 'bob', 'eve')
    await backend.get(workflow, run, look('ada'))
    const held = opened[0]?.backend.hold('start')
    const start = backend.start(workflow, 'rb-1', {}, as('ada'))
    await held?.arrived
    for (const owner of ['bob', 'eve']) await backend.get(workflow, run, look(owner))
    expect(closed).toEqual([])
    held?.release()
    expect((await start).kind).toBe('started')
    await expect.poll(() => closed).toEqual(['ada'])
  })

  it('are closed once their credentials are gone, and a run is unreadable then, neither gone nor ended', async () => {
    const { owners, closed, backend } = engines('ada')
    const started = await backend.start(workflow, 'rb-1', {}, as('ada'))
    if (started.kind !== 'started') throw new Error(started.kind)
    expect((await backend.get(workflow, started.run, look('ada'))).kind).toBe('snapshot')
    owners.delete('ada')
    expect((await backend.get(workflow, started.run, look('ada'))).kind).toBe('unreadable')
    await expect.poll(() => closed).toEqual(['ada'])
  })

  it('that did not open are opened at the next call', async () => {
    const own = fakeBackend({ clock })
    let attempts = 0
    const open = async () => {
      attempts += 1
      if (attempts === 1) throw new Error('once')
      return { backend: fakeBackend({ clock }) }
    }
    const backend = backendByOwner({ own, has: () => true, open })
    expect((await backend.find(workflow, 'rb-1', as('ada'))).kind).toBe('unreadable')
    expect((await backend.find(workflow, 'rb-1', as('ada'))).kind).toBe('absent')
  })

  it('are closed with it', async () => {
    const { closed, backend } = engines('ada', 'bob')
    for (const owner of ['ada', 'bob']) await backend.get(workflow, run, look(owner))
    await backend.close()
    expect(closed.sort()).toEqual(['ada', 'bob'])
  })
})

it('needs room for one owner', () => {
  const own = fakeBackend({ clock, name: 'engine' })
  const open = () => ({ backend: own })
  expect(() => backendByOwner({ own, has: () => true, open, maxOwners: 0 })).toThrow('at least 1')
})
