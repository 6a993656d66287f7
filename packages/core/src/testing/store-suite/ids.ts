import assert from 'node:assert/strict'
import { STORE_CAPABILITIES, type TaskStore } from '../../store.js'
import type { TaskRecord } from '../../task.js'
import type { StoreTests } from '../store-suite.js'
import { NOON, taskRecord } from '../task-record.js'
import { rejectsWith } from './expect.js'

/** What of a record its id has to tell. */
function told({ tool, backend, workflow, form, run, state, createdAt, retainMs, attached }: TaskRecord) {
  return { tool, backend, workflow, form, run, state, createdAt, retainMs, attached }
}

const starting = (): TaskRecord => {
  const { run: _, ...record } = taskRecord({ state: 'starting' })
  return record
}

export function idTests({ it, options }: StoreTests): void {
  const idOf = (store: TaskStore, record: TaskRecord): string => {
    assert.ok(store.idOf, 'a store that keeps nothing makes ids of records')
    return store.idOf(record)
  }

  it('says of everything that it can not do why', async (store) => {
    for (const capability of STORE_CAPABILITIES) assert.match(store.lacks?.[capability] ?? '', /\w{3}/)
  })

  it('refuses what it can not do', async (store) => {
    await rejectsWith('unsupported', () => store.list('local', {}, 10))
    await rejectsWith('unsupported', () => store.claim('local', 'n', 'tsk_1'))
    await rejectsWith('unsupported', () => store.byRun({ runKey: 'rb-1' }))
    await rejectsWith('unsupported', () => store.byRun({ runId: 'run-1' }))
    for (const limit of [0, 1001, 1.5])
      await rejectsWith('invalid_input', () => store.list('local', {}, limit))
  })

  it('keeps nothing, and never is in the way of a start', async (store) => {
    assert.equal(await store.create(starting()), 'created')
    assert.equal(await store.create(starting()), 'created')
    assert.equal(await store.update(taskRecord({ version: 7 })), 'updated')
    assert.equal(await store.get(taskRecord()), undefined)
    assert.equal(await store.delete(taskRecord()), false)
    assert.deepEqual(await store.sweep(NOON * 2, 10), { removed: 0, due: [] })
  })

  it('finds a record by the id that it makes of it', async (store) => {
    const records = [
      taskRecord(),
      taskRecord({ attached: true, run: { id: 'arn:aws:states:eu-north-1:1:execution:a:b', attempt: 3 } }),
      taskRecord({ owner: 'o\u0000"\ud800', tool: 'grün', workflow: 'w\u0000', form: 'plain' }),
    ]
    for (const record of records) {
      const taskId = idOf(store, record)
      const found = await store.get({ owner: record.owner, taskId })
      assert.ok(found)
      assert.deepEqual(told(found), told(record))
      assert.deepEqual([found.owner, found.taskId, found.idKnown], [record.owner, taskId, true])
    }
  })

  it('finds a start that is not settled by its run key', async (store) => {
    const found = await store.get({ owner: 'local', taskId: idOf(store, starting()) })
    assert.equal(found?.state, 'starting')
    assert.equal(found.run, undefined)
    assert.deepEqual([found.runKey, found.startDeadline], ['rb-1', starting().startDeadline])
  })

  it('makes ids that a header and a URL can carry', async (store) => {
    const long = taskRecord({
      owner: 'o'.repeat(500),
      tool: 't'.repeat(128),
      run: { id: `arn:${'x'.repeat(296)}`, attempt: 12 },
    })
    for (const record of [taskRecord(), long]) {
      const id = idOf(store, record)
      assert.match(id, /^[A-Za-z0-9._~-]+$/)
      assert.ok(id.length < 1024, `${id.length} characters`)
    }
  })

  it('knows no id for another owner, and none that was changed or cut', async (store) => {
    const taskId = idOf(store, taskRecord())
    for (const owner of ['other', 'LOCAL', 'local ', '']) {
      assert.equal(await store.get({ owner, taskId }), undefined)
    }
    for (let at = 0; at < taskId.length; at += 1) {
      const changed = taskId.slice(0, at) + (taskId[at] === 'A' ? 'B' : 'A') + taskId.slice(at + 1)
      assert.equal(await store.get({ owner: 'local', taskId: changed }), undefined, `changed at ${at}`)
      assert.equal(
        await store.get({ owner: 'local', taskId: taskId.slice(0, at) }),
        undefined,
        `cut at ${at}`,
      )
    }
    for (const other of [
      '',
      'tsk_',
      'tsk_1',
      `${taskId}A`,
      `${taskId}=`,
      ` ${taskId}`,
      `${taskId}\n`,
      '💥',
    ]) {
      assert.equal(await store.get({ owner: 'local', taskId: other }), undefined, JSON.stringify(other))
    }
  })

  it('shows nothing of the record in its id', async (store) => {
    const record = taskRecord({ tool: 'very-secret-tool', run: { id: 'very-secret-run', attempt: 0 } })
    const id = idOf(store, record)
    const shown = [id, Buffer.from(id, 'base64url').toString('latin1')].join()
    assert.doesNotMatch(shown, /very|secret/)
    assert.notEqual(idOf(store, record), id, 'equal records have different ids')
  })

  if (options.capabilities.multiProcess) {
    it('finds what another process made an id of', async (store, opened) => {
      const other = await opened.join!()
      const taskId = idOf(store, taskRecord())
      assert.equal((await other.get({ owner: 'local', taskId }))?.run?.id, 'run-1')
    })
  }

  it('is unavailable once it is closed', async (store) => {
    const taskId = idOf(store, taskRecord())
    await store.close()
    await store.close()
    await rejectsWith('unavailable', () => store.create(taskRecord()))
    await rejectsWith('unavailable', () => store.get({ owner: 'local', taskId }))
    await rejectsWith('unavailable', () => store.update(taskRecord()))
    await rejectsWith('unavailable', () => store.delete(taskRecord()))
    await rejectsWith('unavailable', () => store.list('local', {}, 10))
    await rejectsWith('unavailable', () => store.byRun({ runKey: 'rb-1' }))
    await rejectsWith('unavailable', () => store.sweep(NOON, 10))
  })
}
