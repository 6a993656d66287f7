import assert from 'node:assert/strict'
import type { TaskStore } from '../../store.js'
import type { TaskRecord } from '../../task.js'
import type { OpenStore, StoreTests } from '../store-suite.js'
import { taskRecord } from '../task-record.js'

function count<T>(values: readonly T[], value: T): number {
  return values.filter((each) => each === value).length
}

/** How many times each of six callers raises `marks.n` by compare-and-set. */
const TIMES = 10

async function increment(store: TaskStore): Promise<void> {
  let lost = 0
  for (let done = 0; done < TIMES; ) {
    const record = (await store.get(taskRecord())) as TaskRecord
    const n = (record.marks?.n as number | undefined) ?? 0
    if ((await store.update({ ...record, marks: { n: n + 1 } })) === 'updated') done++
    else lost++
    assert.ok(lost <= 6 * TIMES, 'a conflict means that another update came first')
  }
}

export function concurrencyTests({ it, options }: StoreTests): void {
  /** The stores that a test spreads its calls over: several where several processes can share the records. */
  const spread = async (opened: OpenStore) =>
    opened.join === undefined ? [opened.store] : [opened.store, await opened.join(), await opened.join()]

  const calls = async <T>(
    opened: OpenStore,
    times: number,
    call: (store: TaskStore, n: number) => Promise<T>,
  ) => {
    const stores = await spread(opened)
    return Promise.all(
      Array.from({ length: times }, (_, n) => call(stores[n % stores.length] as TaskStore, n)),
    )
  }

  it('lets one of many equal creations win', async (store, opened) => {
    const outcomes = await calls(opened, 30, (each, n) => each.create(taskRecord({ note: `${n}` })))
    assert.equal(count(outcomes, 'created'), 1)
    assert.equal(count(outcomes, 'exists'), 29)
    assert.equal((await store.get(taskRecord()))?.note, `${outcomes.indexOf('created')}`)
  })

  it('lets one of many updates of a version win', async (store, opened) => {
    await store.create(taskRecord())
    for (const version of [1, 2, 3]) {
      const outcomes = await calls(opened, 30, (each, n) =>
        each.update(taskRecord({ version, note: `${n}` })),
      )
      assert.equal(count(outcomes, 'updated'), 1)
      assert.equal(count(outcomes, 'conflict'), 29)
      assert.equal((await store.get(taskRecord()))?.note, `${outcomes.indexOf('updated')}`)
      assert.equal((await store.get(taskRecord()))?.version, version + 1)
    }
  })

  it('lets one of a deletion and an update of a version win', async (store, opened) => {
    const stores = await spread(opened)
    const other = stores[stores.length - 1] as TaskStore
    for (let round = 0; round < 10; round++) {
      await store.create(taskRecord())
      const [updated, deleted] = await Promise.all(
        round % 2
          ? [store.update(taskRecord()), other.delete(taskRecord(), taskRecord())]
          : [other.update(taskRecord()), store.delete(taskRecord(), taskRecord())],
      )
      assert.notEqual(updated === 'updated', deleted, `${updated} and ${deleted}`)
      assert.equal((await store.get(taskRecord()))?.version, updated === 'updated' ? 2 : undefined)
      await store.delete(taskRecord())
    }
  })

  it('counts every successful compare-and-set', async (store, opened) => {
    await store.create(taskRecord())
    await calls(opened, 6, increment)
    const record = await store.get(taskRecord())
    assert.deepEqual([record?.marks, record?.version], [{ n: 6 * TIMES }, 6 * TIMES + 1])
  })

  it('gives a contested name to one task, and each takeover to one', async (store, opened) => {
    let holder: string | undefined
    for (let round = 0; round < 4; round++) {
      const before = holder
      const taskId = (n: number) => `round ${round}, task ${n}`
      for (let n = 0; n < 20; n++) await store.create(taskRecord({ taskId: taskId(n) }))
      const outcomes = await calls(opened, 20, (each, n) => each.claim('local', 'n', taskId(n), before))
      holder = outcomes[0]
      assert.deepEqual(new Set(outcomes), new Set([holder]))
      assert.notEqual(holder, before)
    }
  })

  it('removes an expired record for one of many sweeps', async (store, opened) => {
    for (let n = 0; n < 20; n++) await store.create(taskRecord({ taskId: `t${n}`, endedAt: 0, retainMs: 0 }))
    const sweeps = await calls(opened, 10, (each) => each.sweep(1, 5))
    assert.equal(
      sweeps.reduce((sum, { removed }) => sum + removed, 0),
      20,
    )
  })

  if (options.capabilities.multiProcess) {
    it('reads at once what another process wrote', async (store, opened) => {
      const other = await opened.join!()
      await store.create(taskRecord())
      assert.deepEqual(await other.get(taskRecord()), taskRecord())
      await other.update(taskRecord({ run: { id: 'run-9', attempt: 0 } }))
      assert.equal((await store.get(taskRecord()))?.version, 2)
      assert.equal((await store.byRun({ runId: 'run-9' })).length, 1)
      assert.equal((await store.list('local', {}, 10)).records[0]?.version, 2)
      await store.delete(taskRecord())
      assert.equal(await other.get(taskRecord()), undefined)
      assert.equal(await other.create(taskRecord()), 'created')
    })

    it('goes on when another process closes its store', async (store, opened) => {
      const other = await opened.join!()
      await other.create(taskRecord())
      await other.close()
      assert.equal(await store.update(taskRecord()), 'updated')
    })

    it('takes a cursor that another process gave', async (store, opened) => {
      const other = await opened.join!()
      for (const n of [1, 2]) await store.create(taskRecord({ taskId: `t${n}`, createdAt: n }))
      const { next } = await store.list('local', {}, 1)
      assert.deepEqual((await other.list('local', {}, 1, next)).records, [
        taskRecord({ taskId: 't1', createdAt: 1 }),
      ])
    })
  }
}
