import assert from 'node:assert/strict'
import { isTerminal, RUN_STATES } from '../../run.js'
import type { TaskFilter, TaskStore } from '../../store.js'
import { type CancelWish, expiresAt, IDLE_MS, type TaskKey, type TaskRecord } from '../../task.js'
import type { StoreTests } from '../store-suite.js'
import { taskRecord } from '../task-record.js'
import { readPages } from './expect.js'

/** What a store has to hold, kept as simply as can be: records by owner and task id, names by owner and name. */
class Model extends Map<string, TaskRecord> {
  readonly names = new Map<string, string>()

  override delete(key: string): boolean {
    for (const [name, target] of this.names) if (target === key) this.names.delete(name)
    return super.delete(key)
  }
}

/** Takes one whole number apart into small choices, so that a smaller number is a simpler operation. */
type Draw = (below: number) => number

function drawFrom(number: number): Draw {
  let rest = number
  return (below) => {
    const choice = rest % below
    rest = Math.floor(rest / below)
    return choice
  }
}

const keyOf = ({ owner, taskId }: TaskKey) => JSON.stringify([owner, taskId])
const drawKey = (draw: Draw): TaskKey => ({ taskId: `t${draw(4)}`, owner: draw(4) < 3 ? 'o0' : 'o1' })

function drawRecord(draw: Draw): TaskRecord {
  const key = drawKey(draw)
  const state = RUN_STATES[draw(RUN_STATES.length)]!
  const attempt = draw(3)
  const wish = draw(4)
  const { run: _, ...unstarted } = taskRecord(key)
  return {
    ...unstarted,
    state,
    createdAt: draw(3),
    tool: `tool-${draw(2)}`,
    runKey: `rb-${draw(2)}`,
    startDeadline: draw(6),
    refreshAfter: draw(5),
    retainMs: draw(3),
    ...(isTerminal(state) && { endedAt: draw(4) }),
    ...(attempt > 0 && { run: { id: `run-${attempt}`, attempt } }),
    ...(wish > 0 && { cancel: drawnWish(wish) }),
  }
}

/** Unsent, sent, or sent and to be sent again. */
function drawnWish(stage: number): CancelWish {
  return {
    reason: 'enough',
    requestedAt: 3,
    ...(stage > 1 && { sentAt: 4 }),
    ...(stage > 2 && { escalateAt: 5 }),
  }
}

function drawFilter(draw: Draw): TaskFilter {
  const [tool, states, since] = [draw(3), draw(3), draw(4)]
  return {
    ...(tool > 0 && { tool: `tool-${tool - 1}` }),
    ...(states > 0 && { states: RUN_STATES.filter((_, index) => index % 2 === states - 1) }),
    ...(since > 0 && { since: since - 1 }),
  }
}

const sorted = (records: Iterable<TaskRecord>) =>
  [...records].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0))

function isDue(record: TaskRecord, now: number): boolean {
  if (isTerminal(record.state)) return false
  if (record.cancel !== undefined && record.cancel.sentAt === undefined) return true
  if (record.state === 'starting') return record.startDeadline < now
  const { escalateAt } = record.cancel ?? {}
  return record.refreshAfter + IDLE_MS < now || (escalateAt !== undefined && escalateAt < now)
}

type Operation = (store: TaskStore, model: Model, draw: Draw) => Promise<string>

const operations: Readonly<Record<string, Operation>> = {
  async create(store, model, draw) {
    const record = drawRecord(draw)
    const expected = model.has(keyOf(record)) ? 'exists' : 'created'
    assert.equal(await store.create(record), expected)
    if (expected === 'created') model.set(keyOf(record), record)
    return `${keyOf(record)} ${record.state}: ${expected}`
  },

  async update(store, model, draw) {
    const stale = draw(4) === 3
    const change = drawRecord(draw)
    const present = model.get(keyOf(change))
    const version = (present?.version ?? 1) + (stale ? 1 : 0)
    // Now and then meant for another record that had the id before.
    const runKey = draw(6) === 5 ? change.runKey : (present?.runKey ?? change.runKey)
    const fits = present?.runKey === runKey && !stale
    const expected = present === undefined ? 'missing' : fits ? 'updated' : 'conflict'
    assert.equal(await store.update({ ...change, runKey, version }), expected)
    if (fits)
      model.set(keyOf(change), { ...change, runKey, createdAt: present.createdAt, version: version + 1 })
    return `${keyOf(change)} ${change.state}: ${expected}`
  },

  async delete(store, model, draw) {
    const key = drawKey(draw)
    const present = model.get(keyOf(key))
    const runKey = [undefined, present?.runKey ?? 'rb-0', 'rb-other'][draw(3)]
    const version = [undefined, present?.version ?? 1, (present?.version ?? 1) + 1][draw(3)]
    const only = runKey === undefined ? undefined : { runKey, ...(version !== undefined && { version }) }
    const expected =
      present !== undefined &&
      (only === undefined ||
        (runKey === present.runKey && (version === undefined || version === present.version)))
    assert.equal(await (only === undefined ? store.delete(key) : store.delete(key, only)), expected)
    if (expected) model.delete(keyOf(key))
    return `${keyOf(key)} only ${JSON.stringify(only)}: ${expected}`
  },

  async list(store, model, draw) {
    const owner = `o${draw(2)}`
    const limit = draw(4) + 1
    const filter = drawFilter(draw)
    const listed = await readPages(store, owner, filter, limit)
    const expected = [...model.values()].filter(
      (record) =>
        record.owner === owner &&
        (filter.tool === undefined || record.tool === filter.tool) &&
        (filter.states === undefined || filter.states.includes(record.state)) &&
        (filter.since === undefined || record.createdAt >= filter.since),
    )
    assert.deepEqual(sorted(listed), sorted(expected))
    const times = listed.map((record) => record.createdAt)
    assert.deepEqual(
      times,
      [...times].sort((a, b) => b - a),
    )
    return `${owner} ${JSON.stringify(filter)} by ${limit}`
  },

  async claim(store, model, draw) {
    const { owner, taskId } = drawKey(draw)
    const name = JSON.stringify([owner, draw(2)])
    const from = [undefined, ...['t0', 't1', 't2', 't3']][draw(5)]
    const holder = model.names.get(name)
    const free = holder === undefined || (from !== undefined && holder === keyOf({ owner, taskId: from }))
    if (free && model.has(keyOf({ owner, taskId }))) model.names.set(name, keyOf({ owner, taskId }))
    const target = model.names.get(name)
    const expected = target === undefined ? undefined : (JSON.parse(target) as [string, string])[1]
    assert.equal(await store.claim(owner, name, taskId, from), expected)
    return `${name} for ${taskId} from ${from}: ${expected}`
  },

  async byRun(store, model, draw) {
    const runKey = `rb-${draw(2)}`
    const runId = `run-${draw(2) + 1}`
    const records = [...model.values()]
    const byKey = records.filter((record) => record.runKey === runKey)
    assert.deepEqual(sorted(await store.byRun({ runKey })), sorted(byKey))
    const byId = records.filter((record) => record.run?.id === runId)
    assert.deepEqual(sorted(await store.byRun({ runId })), sorted(byId))
    return `${runKey} and ${runId}`
  },

  async sweep(store, model, draw) {
    const now = draw(8)
    const limit = [100, 1, 2][draw(3)]!
    const { removed, due } = await store.sweep(now, limit)
    const expired = [...model.values()].filter((record) => (expiresAt(record) ?? now) < now)
    assert.equal(removed, Math.min(limit, expired.length))
    // Which of them a limited sweep removes is the store's choice.
    const left = await Promise.all(expired.map((record) => store.get(record)))
    assert.equal(left.filter((record) => record === undefined).length, removed)
    for (const [index, record] of expired.entries())
      if (left[index] === undefined) model.delete(keyOf(record))

    const expected = [...model.values()].filter((record) => isDue(record, now))
    assert.equal(new Set(due.map(keyOf)).size, Math.min(limit, expected.length))
    for (const record of due) assert.deepEqual(record, model.get(keyOf(record)))
    assert.ok(due.every((record) => isDue(record, now)))
    const earliest = expected.map((record) => record.refreshAfter).sort((a, b) => a - b)
    const named = due.map((record) => record.refreshAfter).sort((a, b) => a - b)
    assert.deepEqual(named, earliest.slice(0, due.length))
    return `at ${now}, ${limit} at most: ${removed} removed, ${due.length} due`
  },
}

// Creations and updates come more often, so that there is something to read.
const weighted = [
  ...['create', 'update', 'list', 'update', 'create', 'update'],
  ...['sweep', 'update', 'byRun', 'create', 'delete', 'update', 'claim', 'claim'],
] as const

async function follow(store: TaskStore, choices: readonly number[]): Promise<void> {
  const model = new Model()
  const trace: string[] = []
  try {
    for (const choice of choices) {
      const draw = drawFrom(choice)
      const name = weighted[draw(weighted.length)]!
      trace.push(name)
      trace[trace.length - 1] += ` ${await operations[name]!(store, model, draw)}`
    }
    for (const owner of ['o0', 'o1']) {
      for (const taskId of ['t0', 't1', 't2', 't3']) {
        assert.deepEqual(await store.get({ owner, taskId }), model.get(keyOf({ owner, taskId })))
      }
    }
  } catch (thrown) {
    throw new Error(`after\n  ${trace.join('\n  ')}\n${String(thrown)}`, { cause: thrown })
  }
}

export function modelTests({ it, options }: StoreTests): void {
  it('agree with a map in memory', async () => {
    await options.forAll(async (choices) => {
      const opened = await options.open()
      try {
        await follow(opened.store, choices)
      } finally {
        await opened.dispose()
      }
    })
  })
}
