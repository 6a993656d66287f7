import assert from 'node:assert/strict'
import { RUN_STATES, TERMINAL_STATES } from '../../run.js'
import { IDLE_MS, IDLE_STEP_MS, type TaskRecord } from '../../task.js'
import type { StoreTests } from '../store-suite.js'
import { NOON, taskRecord } from '../task-record.js'
import { ids } from './expect.js'

const FAR = NOON * 2
const wish = { reason: 'enough', requestedAt: NOON }
const ended = (fields: Partial<TaskRecord>) =>
  taskRecord({ state: 'succeeded', endedAt: NOON, retainMs: 1000, ...fields })

export function sweepTests({ it }: StoreTests): void {
  it('does nothing to an empty store', async (store) => {
    assert.deepEqual(await store.sweep(NOON, 10), { removed: 0, due: [] })
  })

  it('removes a record once its retention after the recorded end lies before now', async (store) => {
    await store.create(ended({ createdAt: 0 }))
    assert.equal((await store.sweep(NOON + 1000, 10)).removed, 0)
    assert.notEqual(await store.get(ended({})), undefined)
    assert.equal((await store.sweep(NOON + 1001, 10)).removed, 1)
    assert.equal(await store.get(ended({})), undefined)
    assert.deepEqual((await store.list(ended({}).owner, {}, 10)).records, [])
    assert.deepEqual(await store.byRun({ runKey: ended({}).runKey }), [])
    assert.equal(await store.create(ended({})), 'created')
  })

  it('counts from the end that an update recorded, and with its retention', async (store) => {
    await store.create(taskRecord({ retainMs: 1000 }))
    await store.update(ended({ endedAt: NOON + 500, retainMs: 200 }))
    assert.equal((await store.sweep(NOON + 700, 10)).removed, 0)
    assert.equal((await store.sweep(NOON + 701, 10)).removed, 1)
  })

  it('removes each owner’s expired records and nothing else', async (store) => {
    await store.create(ended({ taskId: 'a', owner: 'one' }))
    await store.create(ended({ taskId: 'b', owner: 'two' }))
    await store.create(ended({ taskId: 'a', owner: 'two', retainMs: 5000 }))
    assert.equal((await store.sweep(NOON + 2000, 10)).removed, 2)
    assert.notEqual(await store.get({ owner: 'two', taskId: 'a' }), undefined)
  })

  it('never removes a record without an end', async (store) => {
    for (const state of RUN_STATES) await store.create(taskRecord({ taskId: state, state, retainMs: 0 }))
    assert.equal((await store.sweep(FAR, 100)).removed, 0)
    assert.equal((await store.list(taskRecord().owner, {}, 100)).records.length, RUN_STATES.length)
  })

  it('names a start once its deadline lies before now, and no other state', async (store) => {
    for (const state of RUN_STATES) {
      await store.create(taskRecord({ taskId: state, state, startDeadline: NOON + 50 }))
    }
    assert.deepEqual((await store.sweep(NOON + 50, 100)).due, [])
    const { due } = await store.sweep(NOON + 51, 100)
    assert.deepEqual(due, [taskRecord({ taskId: 'starting', state: 'starting', startDeadline: NOON + 50 })])
  })

  it('names an unsent wish to cancel while the run may go on', async (store) => {
    for (const state of RUN_STATES) await store.create(taskRecord({ taskId: state, state, cancel: wish }))
    const { due } = await store.sweep(NOON, 100)
    const open = RUN_STATES.filter((state) => !(TERMINAL_STATES as readonly string[]).includes(state))
    assert.deepEqual(ids(due).sort(), [...open].sort())
    assert.deepEqual(due.find((record) => record.taskId === 'running')?.cancel, wish)
  })

  it('names a wish at any time of the clock, also before it was made', async (store) => {
    await store.create(taskRecord({ cancel: { ...wish, requestedAt: FAR } }))
    for (const now of [0, NOON, FAR]) assert.equal((await store.sweep(now, 10)).due.length, 1)
  })

  it('names a wish no more once it is sent, the task has ended, or the record is gone', async (store) => {
    for (const taskId of ['sent', 'ended', 'gone']) await store.create(taskRecord({ taskId, cancel: wish }))
    await store.update(taskRecord({ taskId: 'sent', cancel: { ...wish, sentAt: NOON } }))
    await store.update(ended({ taskId: 'ended', cancel: wish }))
    await store.delete(taskRecord({ taskId: 'gone' }))
    assert.deepEqual((await store.sweep(NOON, 10)).due, [])
  })

  it('names a sent wish again when its escalation is due, until it is sent too', async (store) => {
    const sent = { ...wish, sentAt: NOON, escalateAt: NOON + 50 }
    await store.create(taskRecord({ refreshAfter: NOON, cancel: sent }))
    assert.deepEqual((await store.sweep(NOON + 50, 10)).due, [])
    assert.deepEqual((await store.sweep(NOON + 51, 10)).due.length, 1)
    await store.update(taskRecord({ refreshAfter: NOON, cancel: { ...wish, sentAt: NOON, escalations: 1 } }))
    assert.deepEqual((await store.sweep(NOON + 51, 10)).due, [])
  })

  it('names a start no more once it is settled', async (store) => {
    await store.create(taskRecord({ state: 'starting', startDeadline: NOON }))
    assert.equal((await store.sweep(FAR, 10)).due.length, 1)
    await store.update(taskRecord({ state: 'running', startDeadline: NOON }))
    assert.deepEqual((await store.sweep(NOON + 1, 10)).due, [])
  })

  it('names a run that nobody follows any more, until somebody looks or it has ended', async (store) => {
    await store.create(taskRecord({ state: 'waiting', refreshAfter: NOON }))
    await store.create(ended({ taskId: 'ended', retainMs: FAR }))
    assert.deepEqual((await store.sweep(NOON + IDLE_MS, 10)).due, [])
    assert.deepEqual(ids((await store.sweep(NOON + IDLE_MS + 1, 10)).due), ['tsk_1'])
    await store.update(taskRecord({ state: 'running', refreshAfter: NOON + 1 }))
    const rounded = NOON + IDLE_MS + IDLE_STEP_MS
    assert.deepEqual((await store.sweep(rounded, 10)).due, [])
    assert.deepEqual(ids((await store.sweep(rounded + 1, 10)).due), ['tsk_1'])
  })

  it('names what is due again and again, and changes none of it', async (store) => {
    await store.create(taskRecord({ cancel: wish }))
    await store.sweep(FAR, 10)
    assert.deepEqual((await store.sweep(FAR, 10)).due, [taskRecord({ cancel: wish })])
  })

  it('removes at most the limit in one sweep, and all in several', async (store) => {
    for (let number = 0; number < 7; number++) await store.create(ended({ taskId: `t${number}` }))
    const removed: number[] = []
    for (let sweep = 0; sweep < 4; sweep++) removed.push((await store.sweep(FAR, 3)).removed)
    assert.deepEqual(removed, [3, 3, 1, 0])
  })

  it('names at most the limit of due ones, first those that wait longest for a look', async (store) => {
    for (const number of [3, 1, 2, 5, 4]) {
      const due = number % 2 ? { cancel: wish } : ({ state: 'starting', startDeadline: 0 } as const)
      await store.create(taskRecord({ taskId: `t${number}`, refreshAfter: NOON + number, ...due }))
    }
    assert.deepEqual(ids((await store.sweep(FAR, 2)).due).sort(), ['t1', 't2'])
    await store.update(taskRecord({ taskId: 't1', refreshAfter: NOON + 9, cancel: wish }))
    assert.deepEqual(ids((await store.sweep(FAR, 2)).due).sort(), ['t2', 't3'])
    assert.equal((await store.sweep(FAR, 100)).due.length, 5)
  })

  it('limits both kinds on their own', async (store) => {
    for (const taskId of ['a', 'b']) {
      await store.create(ended({ taskId: `ended-${taskId}` }))
      await store.create(taskRecord({ taskId: `due-${taskId}`, cancel: wish }))
    }
    const { removed, due } = await store.sweep(FAR, 2)
    assert.deepEqual([removed, due.length], [2, 2])
  })

  it('remembers nothing of a clock that jumps forth and back', async (store) => {
    const start = taskRecord({ taskId: 'start', state: 'starting', startDeadline: NOON + 50 })
    await store.create(start)
    assert.equal((await store.sweep(FAR, 10)).due.length, 1)
    await store.create(ended({}))
    assert.deepEqual(await store.sweep(0, 10), { removed: 0, due: [] })
    assert.deepEqual(await store.sweep(NOON + 60, 10), { removed: 0, due: [start] })
    assert.equal((await store.sweep(FAR, 10)).removed, 1)
  })
}
