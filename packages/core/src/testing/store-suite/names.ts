import assert from 'node:assert/strict'
import type { StoreTests } from '../store-suite.js'
import { NOON, taskRecord } from '../task-record.js'

const LOOKALIKES = [
  ['name', 'NAME'],
  ['name', 'name '],
  ['na\u0000me', 'na'],
  ['caf\u00e9', 'cafe\u0301'],
] as const

export function nameTests({ it }: StoreTests): void {
  it('gives a free name to the first task that claims it, again and again', async (store) => {
    await store.create(taskRecord({ taskId: 'a' }))
    await store.create(taskRecord({ taskId: 'b' }))
    assert.equal(await store.claim('local', 'n', 'a'), 'a')
    assert.equal(await store.claim('local', 'n', 'a'), 'a')
    assert.equal(await store.claim('local', 'n', 'b'), 'a')
    assert.equal(await store.claim('local', 'n', 'a'), 'a', 'a claim that failed changes nothing')
  })

  it('lets a name be taken over from the holder that is named, and from no other', async (store) => {
    for (const taskId of ['a', 'b', 'c']) await store.create(taskRecord({ taskId }))
    await store.claim('local', 'n', 'a')
    assert.equal(await store.claim('local', 'n', 'b', 'c'), 'a')
    assert.equal(await store.claim('local', 'n', 'b', 'a'), 'b')
    assert.equal(await store.claim('local', 'n', 'c', 'a'), 'b', 'a is the holder no more')
    assert.equal(await store.claim('local', 'free', 'a', 'c'), 'a', 'a free name is nobody’s')
  })

  it('lets a task have several names, and owners have the same', async (store) => {
    await store.create(taskRecord({ taskId: 'a' }))
    await store.create(taskRecord({ taskId: 'a', owner: 'other' }))
    await store.create(taskRecord({ taskId: 'b', owner: 'other' }))
    assert.equal(await store.claim('local', 'n', 'a'), 'a')
    assert.equal(await store.claim('local', 'm', 'a'), 'a')
    assert.equal(await store.claim('other', 'n', 'b'), 'b')
    await store.delete(taskRecord({ taskId: 'a', owner: 'other' }))
    await store.create(taskRecord({ taskId: 'c' }))
    assert.equal(await store.claim('local', 'n', 'c'), 'a', 'an equal id of another owner went, not this one')
  })

  for (const [one, two] of LOOKALIKES) {
    it(`tells the names ${JSON.stringify(one)} and ${JSON.stringify(two)} apart`, async (store) => {
      await store.create(taskRecord({ taskId: 'a' }))
      await store.create(taskRecord({ taskId: 'b' }))
      assert.equal(await store.claim('local', one, 'a'), 'a')
      assert.equal(await store.claim('local', two, 'b'), 'b')
    })
  }

  it('keeps a name while its record changes, also past the end', async (store) => {
    await store.create(taskRecord({ taskId: 'a' }))
    await store.create(taskRecord({ taskId: 'b' }))
    await store.claim('local', 'n', 'a')
    await store.update(taskRecord({ taskId: 'a', state: 'succeeded', endedAt: NOON, retainMs: 1000 }))
    assert.equal(await store.claim('local', 'n', 'b'), 'a')
  })

  it('frees the names of a record that is deleted, and not for the next record under its id', async (store) => {
    await store.create(taskRecord({ taskId: 'a' }))
    await store.create(taskRecord({ taskId: 'b' }))
    for (const name of ['n', 'm']) await store.claim('local', name, 'a')
    await store.delete(taskRecord({ taskId: 'a' }))
    await store.create(taskRecord({ taskId: 'a' }))
    for (const name of ['n', 'm']) assert.equal(await store.claim('local', name, 'b'), 'b')
  })

  it('keeps the names of a record that is not deleted for its version', async (store) => {
    await store.create(taskRecord({ taskId: 'a' }))
    await store.create(taskRecord({ taskId: 'b' }))
    await store.claim('local', 'n', 'a')
    assert.equal(await store.delete(taskRecord({ taskId: 'a' }), { runKey: 'rb-1', version: 7 }), false)
    assert.equal(await store.claim('local', 'n', 'b'), 'a')
  })

  it('frees the names of records that expire', async (store) => {
    await store.create(taskRecord({ taskId: 'a', state: 'failed', endedAt: 0, retainMs: 1 }))
    await store.create(taskRecord({ taskId: 'b' }))
    await store.claim('local', 'n', 'a')
    assert.equal((await store.sweep(NOON, 10)).removed, 1)
    assert.equal(await store.claim('local', 'n', 'b'), 'b')
  })

  it('gives no name to a task that has no record', async (store) => {
    await store.create(taskRecord({ taskId: 'a' }))
    await store.create(taskRecord({ taskId: 'a', owner: 'other' }))
    assert.equal(await store.claim('local', 'n', 'gone'), undefined)
    assert.equal(await store.claim('nobody', 'n', 'a'), undefined, 'the record of another owner')
    assert.equal(await store.claim('local', 'n', 'a'), 'a', 'nothing was kept')
    assert.equal(await store.claim('local', 'n', 'gone'), 'a')
    assert.equal(await store.claim('local', 'n', 'gone', 'a'), 'a')
  })
}
