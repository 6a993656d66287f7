import assert from 'node:assert/strict'
import type { Json } from '../../json.js'
import type { TaskRecord } from '../../task.js'
import type { StoreTests } from '../store-suite.js'
import { NOON, taskRecord } from '../task-record.js'
import { plain, rejectsWith } from './expect.js'

/** Pairs of different strings that careless stores take for the same. */
const LOOKALIKES: readonly (readonly [string, string])[] = [
  ['task', 'TASK'],
  ['task', 'task '],
  ['task', 'ta\u0000sk'],
  ['task\u0000a', 'task\u0000b'],
  ['caf\u00e9', 'cafe\u0301'],
  ['\ud800', '\ud801'],
  ['\ufffd', '\ud800'],
  ['1', '01'],
  ['a%', 'a_'],
  ['a\\u0000', 'a\u0000'],
  ['a"', "a'"],
  ['', ' '],
]

function deep(levels: number): Json {
  let value: Json = 'the bottom'
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { down: value }
  return value
}

const full: TaskRecord = taskRecord({
  taskId: 'tsk_full',
  state: 'succeeded',
  run: { id: 'arn:aws:states:eu-north-1:123456789012:execution:deploy:rb-1', attempt: 2 },
  endedAt: NOON + 5,
  cancel: { reason: 'no longer "needed"\n\u2028', requestedAt: NOON + 1, sentAt: NOON + 2 },
  inputs: [{ key: 'gate-1', gateId: 'gate', state: 'late', askedAt: NOON, settledAt: NOON + 3 }],
  marks: { lastEvent: 17, nested: { empty: {}, list: [] } },
  snapshot: {
    state: 'succeeded',
    nativeState: 'SUCCEEDED',
    progress: { message: 'Zustand „prüfen“ 検査 🚀', done: 1, total: 3 },
    gates: [],
    output: {
      text: 'a\u0000b \u202e \ud83d\ude00 \ud800 e\u0301 \u00e9',
      numbers: [0, -1, 1.5, 1e-7, 1e300, Number.MAX_SAFE_INTEGER, 0.1],
      empty: [null, true, false, '', {}, []],
      'caf\u00e9': 1,
      'cafe\u0301': 2,
      '': 'the empty key',
      deep: deep(200),
    },
    links: [{ title: 'console', url: 'https://example.com/?a=1&b=%20' }],
  },
  observedAt: NOON + 4,
  unreadable: { since: NOON, code: 'throttled', reason: 'a quota' },
  absentSince: NOON,
  failure: { code: 'unknown_outcome', message: 'It may have started.' },
  note: 'The answer came too late.',
})

export function keepTests({ it }: StoreTests): void {
  it('keeps a new record', async (store) => {
    assert.equal(await store.create(taskRecord()), 'created')
    assert.deepEqual(await store.get(taskRecord()), taskRecord())
  })

  it('keeps a new record with version 1, whatever version it came with', async (store) => {
    await store.create(taskRecord({ version: 7 }))
    assert.equal((await store.get(taskRecord()))?.version, 1)
  })

  it('leaves the present record as it is when it exists', async (store) => {
    await store.create(taskRecord({ note: 'first' }))
    assert.equal(await store.create(taskRecord({ note: 'second', runKey: 'rb-2' })), 'exists')
    assert.deepEqual(await store.get(taskRecord()), taskRecord({ note: 'first' }))
  })

  it('knows nothing of what was never created', async (store) => {
    assert.equal(await store.get(taskRecord()), undefined)
    assert.equal(await store.update(taskRecord()), 'missing')
    assert.equal(await store.delete(taskRecord()), false)
    assert.equal(await store.delete(taskRecord(), taskRecord()), false)
  })

  it('lets two owners use one task id', async (store) => {
    const [mine, theirs] = [
      taskRecord({ owner: 'a', note: 'mine' }),
      taskRecord({ owner: 'b', note: 'theirs' }),
    ]
    assert.equal(await store.create(mine), 'created')
    assert.equal(await store.get(theirs), undefined)
    assert.equal(await store.update(theirs), 'missing')
    assert.equal(await store.delete(theirs), false)
    assert.equal(await store.create(theirs), 'created')
    assert.equal(await store.update({ ...theirs, note: 'changed' }), 'updated')
    assert.deepEqual(await store.get(mine), mine)
    assert.equal(await store.delete(theirs), true)
    assert.deepEqual(await store.get(mine), mine)
  })

  it('tells keys apart where owner and task id meet', async (store) => {
    const one = taskRecord({ owner: 'a', taskId: 'b:c' })
    const two = taskRecord({ owner: 'a:b', taskId: 'c' })
    assert.equal(await store.create(one), 'created')
    assert.equal(await store.create(two), 'created')
    assert.deepEqual([await store.get(one), await store.get(two)], [one, two])
  })

  for (const [one, two] of LOOKALIKES) {
    it(`tells ${JSON.stringify(one)} from ${JSON.stringify(two)}`, async (store) => {
      const records = [
        taskRecord({ owner: one, taskId: 'x', runKey: one, run: { id: one, attempt: 0 }, tool: one }),
        taskRecord({ owner: two, taskId: 'x', runKey: two, run: { id: two, attempt: 0 }, tool: two }),
        taskRecord({ owner: 'x', taskId: one, runKey: 'x', tool: one }),
        taskRecord({ owner: 'x', taskId: two, runKey: 'x', tool: two }),
      ] as const
      for (const record of records) assert.equal(await store.create(record), 'created')
      for (const record of records) assert.deepEqual(await store.get(record), record)
      assert.deepEqual((await store.list(one, {}, 10)).records, [records[0]])
      assert.deepEqual((await store.list('x', { tool: two }, 10)).records, [records[3]])
      assert.deepEqual(await store.byRun({ runKey: one }), [records[0]])
      assert.deepEqual(await store.byRun({ runId: two }), [records[1]])
      const paged = [await store.list('x', {}, 1)]
      paged.push(await store.list('x', {}, 1, paged[0]?.next))
      assert.deepEqual(paged.map((page) => page.records[0]?.taskId).sort(), [one, two].sort())
    })
  }

  it('replaces the record and raises its version with every update', async (store) => {
    await store.create(taskRecord())
    assert.equal(await store.update(taskRecord({ note: 'one' })), 'updated')
    assert.deepEqual(await store.get(taskRecord()), taskRecord({ version: 2, note: 'one' }))
    assert.equal(await store.update(taskRecord({ version: 2 })), 'updated')
    assert.deepEqual(await store.get(taskRecord()), taskRecord({ version: 3 }), 'an absent field is gone')
  })

  it('refuses an update from any version but the present one, and changes nothing', async (store) => {
    await store.create(taskRecord())
    await store.update(taskRecord({ note: 'kept' }))
    for (const version of [0, 1, 3]) {
      assert.equal(await store.update(taskRecord({ version, note: 'stale', state: 'failed' })), 'conflict')
    }
    assert.deepEqual(await store.get(taskRecord()), taskRecord({ version: 2, note: 'kept' }))
  })

  it('keeps the creation time through an update', async (store) => {
    await store.create(taskRecord())
    assert.equal(await store.update(taskRecord({ createdAt: NOON + 9 })), 'updated')
    assert.deepEqual(await store.get(taskRecord()), taskRecord({ version: 2 }))
    assert.equal((await store.byRun({ runKey: 'rb-1' })).length, 1)
    assert.equal((await store.list(taskRecord().owner, { since: NOON + 1 }, 10)).records.length, 0)
  })

  it('removes a record, in any version or only in the one named', async (store) => {
    await store.create(taskRecord())
    await store.update(taskRecord())
    assert.equal(await store.delete(taskRecord(), { runKey: 'rb-1', version: 1 }), false)
    assert.equal((await store.get(taskRecord()))?.version, 2)
    assert.equal(await store.delete(taskRecord(), { runKey: 'rb-1', version: 2 }), true)
    assert.equal(await store.get(taskRecord()), undefined)
    await store.create(taskRecord())
    await store.update(taskRecord())
    assert.equal(await store.delete(taskRecord()), true)
    assert.equal(await store.get(taskRecord()), undefined)
    assert.equal(await store.delete(taskRecord()), false)
    assert.equal(await store.update(taskRecord({ version: 2 })), 'missing')
  })

  it('lets a removed id start anew', async (store) => {
    await store.create(taskRecord({ note: 'old' }))
    await store.update(taskRecord({ note: 'old' }))
    await store.delete(taskRecord())
    assert.equal(await store.create(taskRecord({ runKey: 'rb-new' })), 'created')
    assert.deepEqual(await store.get(taskRecord()), taskRecord({ runKey: 'rb-new' }))
    assert.equal(await store.update(taskRecord({ version: 2 })), 'conflict')
  })

  it('refuses what was meant for an earlier record of the same id and version', async (store) => {
    const stale = taskRecord({ note: 'stale', run: { id: 'run-stale', attempt: 0 } })
    await store.create(taskRecord())
    await store.delete(taskRecord())
    const present = taskRecord({ runKey: 'rb-new', note: 'new', state: 'starting' })
    await store.create(present)
    assert.equal(await store.update(stale), 'conflict')
    assert.equal(await store.delete(stale, stale), false)
    assert.equal(await store.delete(stale, { runKey: stale.runKey }), false)
    assert.deepEqual(await store.get(present), present)
    assert.deepEqual(await store.byRun({ runKey: stale.runKey }), [])
    assert.deepEqual(await store.byRun({ runId: 'run-stale' }), [])
    assert.equal(await store.update({ ...present, note: 'newer' }), 'updated')
    assert.equal(await store.delete(present, { runKey: 'rb-new' }), true)
  })

  it('gives back every field as it was given', async (store) => {
    await store.create(full)
    assert.deepEqual(await store.get(full), plain(full))
    await store.update({ ...full, marks: JSON.parse('{"__proto__":{"a":1},"constructor":2}') })
    const marks = (await store.get(full))?.marks
    assert.equal(JSON.stringify(marks), '{"__proto__":{"a":1},"constructor":2}')
  })

  it('keeps a snapshot with as much output as an engine gives', async (store) => {
    // Step Functions passes at most 262,144 bytes (quota "Maximum input or output size").
    const output = { text: '\u00e9"\\\n'.repeat(Math.floor(262_144 / 5)) }
    const snapshot = { state: 'succeeded', nativeState: 'SUCCEEDED', gates: [], output, links: [] } as const
    await store.create(taskRecord())
    assert.equal(await store.update(taskRecord({ state: 'succeeded', snapshot })), 'updated')
    assert.deepEqual((await store.get(taskRecord()))?.snapshot, snapshot)
    assert.deepEqual((await store.list(taskRecord().owner, {}, 1)).records[0]?.snapshot, snapshot)
  })

  it('shares no object with its callers', async (store) => {
    const given = { ...taskRecord(), marks: { seen: 1 } }
    await store.create(given)
    given.marks.seen = 2
    const got = (await store.get(given)) as unknown as { marks: { seen: number } }
    assert.equal(got.marks.seen, 1)
    got.marks.seen = 3
    assert.deepEqual((await store.get(given))?.marks, { seen: 1 })
  })

  it('is unavailable once it is closed', async (store) => {
    await store.create(taskRecord())
    await store.close()
    await store.close()
    await rejectsWith('unavailable', () => store.create(taskRecord()))
    await rejectsWith('unavailable', () => store.get(taskRecord()))
    await rejectsWith('unavailable', () => store.update(taskRecord()))
    await rejectsWith('unavailable', () => store.delete(taskRecord()))
    await rejectsWith('unavailable', () => store.list('local', {}, 10))
    await rejectsWith('unavailable', () => store.claim('local', 'n', 'tsk_1'))
    await rejectsWith('unavailable', () => store.byRun({ runKey: 'rb-1' }))
    await rejectsWith('unavailable', () => store.sweep(NOON, 10))
  })
}
