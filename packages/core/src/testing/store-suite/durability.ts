import assert from 'node:assert/strict'
import { SAMPLE_TIME, sampleTask } from '../sample-task.js'
import type { StoreTests } from '../store-suite.js'

export function durabilityTests({ it }: StoreTests): void {
  it('has every record as it was left', async (store, opened) => {
    await store.create(sampleTask({ taskId: 'kept' }))
    await store.create(sampleTask({ taskId: 'changed' }))
    await store.create(sampleTask({ taskId: 'gone' }))
    await store.update(sampleTask({ taskId: 'changed', run: { id: 'run-1', attempt: 0 } }))
    await store.delete(sampleTask({ taskId: 'gone' }))
    const again = await opened.reopen!()
    assert.deepEqual(await again.get(sampleTask({ taskId: 'kept' })), sampleTask({ taskId: 'kept' }))
    const changed = sampleTask({ taskId: 'changed', version: 2, run: { id: 'run-1', attempt: 0 } })
    assert.deepEqual(await again.byRun({ runId: 'run-1' }), [changed])
    assert.equal(await again.get(sampleTask({ taskId: 'gone' })), undefined)
    assert.equal(await again.create(sampleTask({ taskId: 'kept' })), 'exists')
    assert.equal(await again.update(sampleTask({ taskId: 'changed', version: 1 })), 'conflict')
    assert.equal(await again.update(changed), 'updated')
  })

  it('still knows what has expired, what is due, and its cursors', async (store, opened) => {
    await store.create(sampleTask({ taskId: 'old', createdAt: 1, endedAt: SAMPLE_TIME, retainMs: 1 }))
    const wished = sampleTask({
      taskId: 'wished',
      createdAt: 2,
      cancel: { reason: 'enough', requestedAt: 0 },
    })
    await store.create(wished)
    const { next } = await store.list('local', {}, 1)
    const again = await opened.reopen!()
    assert.equal((await again.list('local', {}, 1, next)).records[0]?.taskId, 'old')
    assert.deepEqual(await again.sweep(SAMPLE_TIME * 2, 10), { removed: 1, due: [wished] })
  })
}
