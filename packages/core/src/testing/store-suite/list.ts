import assert from 'node:assert/strict'
import { RunbridgeError } from '../../errors.js'
import { RUN_STATES } from '../../run.js'
import type { TaskStore } from '../../store.js'
import type { TaskRecord } from '../../task.js'
import type { StoreTests } from '../store-suite.js'
import { NOON, taskRecord } from '../task-record.js'
import { ids, readPages, rejectsWith } from './expect.js'

const owner = 'lister'

function task(number: number, fields: Partial<TaskRecord> = {}): TaskRecord {
  return taskRecord({ owner, taskId: `t${number}`, createdAt: NOON + number, ...fields })
}

async function fill(store: TaskStore, records: readonly TaskRecord[]): Promise<void> {
  for (const record of records) await store.create(record)
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

export function listTests({ it }: StoreTests): void {
  it('is empty without records', async (store) => {
    assert.deepEqual(await store.list(owner, {}, 10), { records: [] })
  })

  it('shows whole records, newest first by creation, whatever was written first or last', async (store) => {
    const records = [task(2), task(3, { note: 'n' }), task(1)]
    await fill(store, records)
    await store.update(task(1, { updatedAt: NOON + 99 }))
    assert.deepEqual((await store.list(owner, {}, 10)).records, [
      task(3, { note: 'n' }),
      task(2),
      task(1, { updatedAt: NOON + 99, version: 2 }),
    ])
  })

  it('orders records of one moment the same way every time and for every page size', async (store) => {
    await fill(
      store,
      [3, 1, 4, 11, 5, 9, 2, 6].map((number) => task(number, { createdAt: NOON })),
    )
    const first = ids((await store.list(owner, {}, 100)).records)
    assert.equal(new Set(first).size, 8)
    for (const limit of [1, 2, 3, 8]) assert.deepEqual(ids(await readPages(store, owner, {}, limit)), first)
  })

  it('shows nobody else’s records', async (store) => {
    await fill(store, [task(1), task(2, { owner: 'other' })])
    assert.deepEqual(ids((await store.list(owner, {}, 10)).records), ['t1'])
    assert.deepEqual(ids((await store.list('nobody', {}, 10)).records), [])
  })

  it('filters by tool, states and creation, alone and together', async (store) => {
    const states = RUN_STATES.map((state, index) => task(index, { state, tool: index % 2 ? 'odd' : 'even' }))
    await fill(store, states)
    const shown = async (filter: Parameters<TaskStore['list']>[1]) =>
      ids((await store.list(owner, filter, 100)).records)
    assert.deepEqual(await shown({ tool: 'odd' }), ['t7', 't5', 't3', 't1'])
    assert.deepEqual(await shown({ tool: 'unknown' }), [])
    for (const [index, state] of RUN_STATES.entries())
      assert.deepEqual(await shown({ states: [state] }), [`t${index}`])
    assert.deepEqual(await shown({ states: ['starting', 'lost', 'queued'] }), ['t8', 't1', 't0'])
    assert.deepEqual(await shown({ states: [] }), [])
    assert.deepEqual(await shown({ since: NOON + 7 }), ['t8', 't7'], 'since is inclusive')
    assert.deepEqual(
      await shown({ tool: 'even', states: ['starting', 'running', 'lost'], since: NOON + 1 }),
      ['t8', 't2'],
    )
  })

  it('follows an update of the state', async (store) => {
    await fill(store, [task(1)])
    await store.update(task(1, { state: 'failed' }))
    assert.deepEqual(ids((await store.list(owner, { states: ['running'] }, 10)).records), [])
    assert.deepEqual(ids((await store.list(owner, { states: ['failed'] }, 10)).records), ['t1'])
  })

  it('pages through everything, each record once, with and without a filter', async (store) => {
    await fill(
      store,
      range(1, 25).map((number) => task(number, { tool: number % 3 ? 'a' : 'b' })),
    )
    const newestFirst = range(1, 25).reverse()
    for (const limit of [1, 2, 7, 24, 25, 26, 1000]) {
      const all = ids(await readPages(store, owner, {}, limit))
      assert.deepEqual(
        all,
        newestFirst.map((number) => `t${number}`),
      )
      const some = ids(await readPages(store, owner, { tool: 'b' }, limit))
      assert.deepEqual(
        some,
        newestFirst.filter((number) => number % 3 === 0).map((number) => `t${number}`),
      )
    }
  })

  it('shows what stays exactly once while records come and go between pages', async (store) => {
    const staying = range(1, 20).map((number) => task(number * 10))
    const leaving = range(1, 20).map((number) => task(number * 10 + 5))
    await fill(store, [...staying, ...leaving])
    const seen = ids(
      await readPages(store, owner, {}, 3, async (page) => {
        // One newer than all, one in the middle of what was shown, one in the middle of what is to come.
        await fill(store, [task(1000 + page), task(400 - page), task(3 + page)])
        // Whatever the last page ended with is among these sooner or later.
        await store.delete(leaving[20 - page] ?? task(0))
        await store.delete(leaving[20 - 2 * page] ?? task(0))
      }),
    )
    assert.equal(new Set(seen).size, seen.length, `twice: ${seen}`)
    const kept = new Set(ids(staying))
    assert.deepEqual(
      seen.filter((id) => kept.has(id)),
      ids(staying).reverse(),
    )
  })

  it('goes on after the record at which a page ended is gone', async (store) => {
    await fill(
      store,
      range(1, 4).map((number) => task(number)),
    )
    const first = await store.list(owner, {}, 2)
    assert.deepEqual(ids(first.records), ['t4', 't3'])
    await store.delete(task(3))
    assert.deepEqual(ids((await store.list(owner, {}, 2, first.next)).records), ['t2', 't1'])
  })

  it('accepts limits from 1 to 1000 and no other', async (store) => {
    await fill(store, [task(1), task(2)])
    assert.equal((await store.list(owner, {}, 1)).records.length, 1)
    assert.equal((await store.list(owner, {}, 1000)).records.length, 2)
    for (const limit of [0, -1, 1001, 1.5, Number.NaN]) {
      await rejectsWith('invalid_input', () => store.list(owner, {}, limit))
    }
  })

  it('refuses a cursor that it did not make', async (store) => {
    await fill(store, [task(1), task(2)])
    const { next } = await store.list(owner, {}, 1)
    assert.ok(next !== undefined)
    const invented = [
      '',
      '0',
      '1',
      'null',
      'bm90aGluZw',
      `${next}x`,
      `x${next}`,
      next.slice(1),
      next.slice(0, -2),
      '💥',
    ]
    for (const cursor of invented) await rejectsWith('invalid_input', () => store.list(owner, {}, 1, cursor))
  })

  it('shows nothing of an owner to whoever holds that owner’s cursor', async (store) => {
    await fill(
      store,
      range(1, 4).map((number) => task(number)),
    )
    await fill(
      store,
      range(1, 4).map((number) => task(number, { owner: 'other', taskId: `o${number}` })),
    )
    const { next } = await store.list(owner, {}, 2)
    assert.ok(next !== undefined)
    try {
      const { records } = await store.list('other', {}, 10, next)
      assert.ok(records.every((record) => record.owner === 'other'))
    } catch (thrown) {
      assert.ok(thrown instanceof RunbridgeError && thrown.code === 'invalid_input')
    }
  })
}
