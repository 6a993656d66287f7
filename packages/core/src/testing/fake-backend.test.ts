import { expect, test } from 'vitest'
import type { RunbridgeError } from '../errors.js'
import { fakeBackend } from './fake-backend.js'

const workflow = { id: 'wf' }
const signal = new AbortController().signal
const context = { signal, owner: 'ada' }
const look = { signal, owner: 'ada', gates: true, progress: true }

function engine(options: Partial<Parameters<typeof fakeBackend>[0]> = {}) {
  const time = { now: 1000 }
  return { time, backend: fakeBackend({ clock: { now: () => time.now }, ...options }) }
}

test('a start is idempotent by default, and refuses another input under the same key', async () => {
  const { backend } = engine()
  const first = await backend.start(workflow, 'k', { a: 1 }, context)
  const again = await backend.start(workflow, 'k', { a: 1 }, context)
  const other = await backend.start(workflow, 'k', { a: 2 }, context)
  expect(again).toEqual(first)
  expect(other.kind).toBe('refused')
  expect(backend.executions).toHaveLength(1)
  expect(backend.callsOf('start').map((call) => call.runKey)).toEqual(['k', 'k', 'k'])
})

test('a findable engine starts twice when it is asked twice, and find says ambiguous', async () => {
  const { backend } = engine({ capabilities: { start: 'findable' } })
  await backend.start(workflow, 'k', {}, context)
  await backend.start(workflow, 'k', {}, context)
  expect(backend.executions).toHaveLength(2)
  expect((await backend.find(workflow, 'k', context)).kind).toBe('ambiguous')
})

test('unknown starts differ in what happened', async () => {
  const { backend } = engine()
  backend.script('start', 'unknown_but_happened', 'unknown_and_nothing_happened', 'refused')
  expect((await backend.start(workflow, 'a', {}, context)).kind).toBe('unknown')
  expect((await backend.start(workflow, 'b', {}, context)).kind).toBe('unknown')
  expect((await backend.start(workflow, 'c', {}, context)).kind).toBe('refused')
  expect(backend.executions.map((run) => run.runKey)).toEqual(['a'])
  expect((await backend.find(workflow, 'a', context)).kind).toBe('found')
  expect((await backend.find(workflow, 'b', context)).kind).toBe('absent')
})

test('a run hides for some time, or for some looks', async () => {
  const { backend, time } = engine({ hiddenMs: 10 })
  const started = await backend.start(workflow, 'k', {}, context)
  if (started.kind !== 'started') throw new Error(started.kind)
  expect((await backend.get(workflow, started.run, look)).kind).toBe('absent')
  time.now += 10
  expect((await backend.get(workflow, started.run, look)).kind).toBe('snapshot')

  backend.hiddenMs = 0
  backend.hiddenLooks = 2
  await backend.start(workflow, 'l', {}, context)
  const looks = [1, 2, 3].map(() => backend.find(workflow, 'l', context))
  expect((await Promise.all(looks)).map((result) => result.kind)).toEqual(['absent', 'absent', 'found'])
})

test('a held start hangs until it is released, and an abort makes it unknown', async () => {
  const { backend } = engine()
  const held = backend.hold('start')
  const start = backend.start(workflow, 'k', {}, context)
  await held.arrived
  expect(backend.executions).toHaveLength(0)
  held.release('unknown_but_happened')
  expect((await start).kind).toBe('unknown')
  expect(backend.runs.has('k')).toBe(true)

  const left = backend.hold('start')
  const leaving = new AbortController()
  const abandoned = backend.start(workflow, 'l', {}, { ...context, signal: leaving.signal })
  await left.arrived
  leaving.abort()
  expect((await abandoned).kind).toBe('unknown')
  expect(backend.runs.has('l')).toBe(false)
})

test('get follows what a test sets, and the script goes first', async () => {
  const { backend } = engine()
  const started = await backend.start(workflow, 'k', {}, context)
  if (started.kind !== 'started') throw new Error(started.kind)
  backend.set('k', { state: 'succeeded', output: 'done' })
  backend.script('get', { kind: 'absent' })
  expect((await backend.get(workflow, started.run, look)).kind).toBe('absent')
  expect(await backend.get(workflow, started.run, look)).toMatchObject({
    kind: 'snapshot',
    snapshot: { state: 'succeeded', nativeState: 'SUCCEEDED', output: 'done', endedAt: 1000 },
  })
  backend.forget('k')
  expect((await backend.get(workflow, started.run, look)).kind).toBe('absent')
})

test('a gate takes one answer; our own repeated is delivered, another is too late', async () => {
  const { backend } = engine()
  const started = await backend.start(workflow, 'k', {}, context)
  if (started.kind !== 'started') throw new Error(started.kind)
  const gate = backend.openGate('k', { id: 'g' })
  const seen = await backend.get(workflow, started.run, look)
  const unasked = await backend.get(workflow, started.run, { ...look, gates: false })
  expect(seen).toMatchObject({ snapshot: { state: 'waiting', gates: [{ id: 'g' }] } })
  expect(unasked).toMatchObject({ snapshot: { state: 'running', gates: [] } })

  const yes = { action: 'accept', content: { approve: true } } as const
  backend.script('answer', 'failed_but_delivered')
  expect((await backend.answer(workflow, started.run, gate, yes, context)).kind).toBe('failed')
  expect((await backend.answer(workflow, started.run, gate, yes, context)).kind).toBe('delivered')
  const no = await backend.answer(workflow, started.run, gate, { action: 'decline' }, context)
  expect(no.kind).toBe('too_late')
  expect(backend.runs.get('k')?.snapshot.state).toBe('running')
})

test('cancel stops a run, unless it is in vain or too late', async () => {
  const { backend } = engine()
  const started = await backend.start(workflow, 'k', {}, context)
  if (started.kind !== 'started') throw new Error(started.kind)
  backend.script('cancel', 'sent_in_vain')
  expect((await backend.cancel(workflow, started.run, 'first', context)).kind).toBe('sent')
  expect(backend.runs.get('k')?.snapshot.state).toBe('running')
  expect((await backend.cancel(workflow, started.run, 'second', context)).kind).toBe('sent')
  expect(backend.runs.get('k')?.snapshot.state).toBe('cancelled')
  expect((await backend.cancel(workflow, started.run, 'third', context)).kind).toBe('too_late')
  expect(backend.runs.get('k')?.cancels).toEqual(['first', 'second'])
})

test('a scripted result is handed back as it is', async () => {
  const { backend } = engine()
  const error = { code: 'throttled' } as RunbridgeError
  backend.script('start', { kind: 'refused', error })
  expect(await backend.start(workflow, 'k', {}, context)).toEqual({ kind: 'refused', error })
})
