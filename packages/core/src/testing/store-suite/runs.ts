import assert from 'node:assert/strict'
import type { RunQuery, TaskStore } from '../../store.js'
import type { StoreTests } from '../store-suite.js'
import { taskRecord } from '../task-record.js'

const first = { id: 'run-9', attempt: 0 }

async function followers(store: TaskStore, query: RunQuery): Promise<string[]> {
  return (await store.byRun(query)).map((record) => `${record.owner}/${record.taskId}`).sort()
}

export function runTests({ it }: StoreTests): void {
  it('finds nothing for a run that nobody follows', async (store) => {
    await store.create(taskRecord())
    assert.deepEqual(await store.byRun({ runKey: 'rb-other' }), [])
    assert.deepEqual(await store.byRun({ runId: 'run-9' }), [])
    assert.deepEqual(await store.byRun({ runId: 'rb-1' }), [], 'a run key is not a run id')
  })

  it('gives whole records by run key, and by run id once it is known', async (store) => {
    const { run: _, ...unstarted } = taskRecord({ state: 'starting' })
    await store.create(unstarted)
    assert.deepEqual(await store.byRun({ runKey: 'rb-1' }), [unstarted])
    await store.update(taskRecord({ run: first }))
    assert.deepEqual(await store.byRun({ runId: 'run-9' }), [taskRecord({ run: first, version: 2 })])
    assert.deepEqual(await store.byRun({ runKey: 'rb-1' }), [taskRecord({ run: first, version: 2 })])
  })

  it('finds several tasks, of several owners, attempts and states', async (store) => {
    const tasks = [
      taskRecord({ taskId: 'one', run: first }),
      taskRecord({ taskId: 'two', run: first, state: 'failed' }),
      taskRecord({ taskId: 'two', owner: 'other', run: first }),
      taskRecord({ taskId: 'redriven', runKey: 'rb-attached', run: { id: 'run-9', attempt: 1 } }),
      taskRecord({ taskId: 'another', run: { id: 'run-2', attempt: 0 } }),
    ]
    for (const task of tasks) await store.create(task)
    assert.deepEqual(await followers(store, { runId: 'run-9' }), [
      'local/one',
      'local/redriven',
      'local/two',
      'other/two',
    ])
    assert.deepEqual(await followers(store, { runKey: 'rb-1' }), [
      'local/another',
      'local/one',
      'local/two',
      'other/two',
    ])
    assert.deepEqual(await followers(store, { runKey: 'rb-attached' }), ['local/redriven'])
  })

  it('forgets a run that a record left, and a record that is gone', async (store) => {
    await store.create(taskRecord({ run: first }))
    await store.update(taskRecord({ run: { id: 'run-2', attempt: 0 } }))
    assert.deepEqual(await store.byRun({ runId: 'run-9' }), [])
    assert.equal((await store.byRun({ runId: 'run-2' })).length, 1)
    await store.delete(taskRecord())
    assert.deepEqual(await store.byRun({ runId: 'run-2' }), [])
    assert.deepEqual(await store.byRun({ runKey: 'rb-1' }), [])
  })

  it('finds every one of many followers', async (store) => {
    for (let number = 0; number < 120; number++)
      await store.create(taskRecord({ taskId: `t${number}`, run: first }))
    assert.equal((await followers(store, { runId: 'run-9' })).length, 120)
    assert.equal((await followers(store, { runKey: 'rb-1' })).length, 120)
  })
}
