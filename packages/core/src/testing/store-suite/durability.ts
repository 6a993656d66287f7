import assert from 'node:assert/strict'
import type { StoreTests } from '../store-suite.js'
import { NOON, taskRecord } from '../task-record.js'

export function durabilityTests({ it }: StoreTests): void {
  it('has every record as it was left', async (store, opened) => {
    await store.create(taskRecord({ taskId: 'kept' }))
    await store.create(taskRecord({ taskId: 'changed' }))
    await store.create(taskRecord({ taskId: 'gone' }))
    await store.update(taskRecord({ taskId: 'changed', run: { id: 'run-9', attempt: 0 } }))
    await store.delete(taskRecord({ taskId: 'gone' }))
    const again = await opened.reopen!()
    assert.deepEqual(await again.get(taskRecord({ taskId: 'kept' })), taskRecord({ taskId: 'kept' }))
    const changed = taskRecord({ taskId: 'changed', version: 2, run: { id: 'run-9', attempt: 0 } })
    assert.deepEqual(await again.byRun({ runId: 'run-9' }), [changed])
    assert.equal(await again.get(taskRecord({ taskId: 'gone' })), undefined)
    assert.equal(await again.create(taskRecord({ taskId: 'kept' })), 'exists')
    assert.equal(await again.update(taskRecord({ taskId: 'changed', version: 1 })), 'conflict')
    assert.equal(await again.update(changed), 'updated')
  })

  it('has every name as it was claimed', async (store, opened) => {
    for (const taskId of ['a', 'b']) await store.create(taskRecord({ taskId }))
    await store.claim('local', 'kept', 'a')
    await store.claim('local', 'moved', 'a')
    await store.claim('local', 'moved', 'b', 'a')
    const again = await opened.reopen!()
    assert.equal(await again.claim('local', 'kept', 'b'), 'a')
    assert.equal(await again.claim('local', 'moved', 'a'), 'b')
  })

  it('still knows what has expired, what is due, and its cursors', async (store, opened) => {
    await store.create(taskRecord({ taskId: 'old', createdAt: 1, endedAt: NOON, retainMs: 1 }))
    const wished = taskRecord({
      taskId: 'wished',
      createdAt: 2,
      cancel: { reason: 'enough', requestedAt: 0 },
    })
    await store.create(wished)
    const { next } = await store.list('local', {}, 1)
    const again = await opened.reopen!()
    assert.equal((await again.list('local', {}, 1, next)).records[0]?.taskId, 'old')
    assert.deepEqual(await again.sweep(NOON * 2, 10), { removed: 1, due: [wished] })
  })
}
