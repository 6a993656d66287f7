import assert from 'node:assert/strict'
import type { RunQuery, TaskStore } from '../../store.js'
import { sampleTask } from '../sample-task.js'
import type { StoreTests } from '../store-suite.js'

const first = { id: 'run-1', attempt: 0 }

async function followers(store: TaskStore, query: RunQuery): Promise<string[]> {
  return (await store.byRun(query)).map((record) => `${record.owner}/${record.taskId}`).sort()
}

export function runTests({ it }: StoreTests): void {
  it('finds nothing for a run that nobody follows', async (store) => {
    await store.create(sampleTask())
    assert.deepEqual(await store.byRun({ runKey: 'rb-other' }), [])
    assert.deepEqual(await store.byRun({ runId: 'run-1' }), [])
    assert.deepEqual(await store.byRun({ runId: 'rb-sample' }), [], 'a run key is not a run id')
  })

  it('gives whole records by run key, and by run id once it is known', async (store) => {
    await store.create(sampleTask())
    assert.deepEqual(await store.byRun({ runKey: 'rb-sample' }), [sampleTask()])
    await store.update(sampleTask({ run: first }))
    assert.deepEqual(await store.byRun({ runId: 'run-1' }), [sampleTask({ run: first, version: 2 })])
    assert.deepEqual(await store.byRun({ runKey: 'rb-sample' }), [sampleTask({ run: first, version: 2 })])
  })

  it('finds several tasks, of several owners, attempts and states', async (store) => {
    const tasks = [
      sampleTask({ taskId: 'one', run: first }),
      sampleTask({ taskId: 'two', run: first, state: 'failed' }),
      sampleTask({ taskId: 'two', owner: 'other', run: first }),
      sampleTask({ taskId: 'redriven', runKey: 'rb-attached', run: { id: 'run-1', attempt: 1 } }),
      sampleTask({ taskId: 'another', run: { id: 'run-2', attempt: 0 } }),
    ]
    for (const task of tasks) await store.create(task)
    assert.deepEqual(await followers(store, { runId: 'run-1' }), [
      'local/one',
      'local/redriven',
      'local/two',
      'other/two',
    ])
    assert.deepEqual(await followers(store, { runKey: 'rb-sample' }), [
      'local/another',
      'local/one',
      'local/two',
      'other/two',
    ])
    assert.deepEqual(await followers(store, { runKey: 'rb-attached' }), ['local/redriven'])
  })

  it('forgets a run that a record left, and a record that is gone', async (store) => {
    await store.create(sampleTask({ run: first }))
    await store.update(sampleTask({ run: { id: 'run-2', attempt: 0 } }))
    assert.deepEqual(await store.byRun({ runId: 'run-1' }), [])
    assert.equal((await store.byRun({ runId: 'run-2' })).length, 1)
    await store.delete(sampleTask())
    assert.deepEqual(await store.byRun({ runId: 'run-2' }), [])
    assert.deepEqual(await store.byRun({ runKey: 'rb-sample' }), [])
  })

  it('finds every one of many followers', async (store) => {
    for (let number = 0; number < 120; number++)
      await store.create(sampleTask({ taskId: `t${number}`, run: first }))
    assert.equal((await followers(store, { runId: 'run-1' })).length, 120)
    assert.equal((await followers(store, { runKey: 'rb-sample' })).length, 120)
  })
}
