import {
  createTaskService,
  expiresAt,
  type Gate,
  isTerminal,
  openQuestions,
  RUN_STATES,
  type RunState,
  reduce,
  type Task,
  type TaskEvent,
  type TaskRecord,
} from '@runbridge/core'
import { manualClock, NOON, taskRecord } from '@runbridge/core/testing'
import * as core2025 from '@runbridge/core/wire/core-2025-11-25'
import * as extTasks from '@runbridge/core/wire/ext-tasks'
import * as sep1686 from '@runbridge/core/wire/sep-1686'
import { memory } from '@runbridge/stores/memory'
import { describe, expect, it } from 'vitest'

const FORMS = ['ext-tasks', 'core-2025-11-25', 'sep-1686'] as const
type Form = (typeof FORMS)[number]

const SITUATIONS = [
  /** Nothing special; where a question is open, this caller can be asked. */
  'plain',
  /** The caller cancelled it, in the way of its form. */
  'cancelled',
  /** A question was put on the way, and answered. */
  'answered',
  /** Long after the recorded end and the time to keep it. */
  'expired',
  'caller can not be asked',
] as const
type Situation = (typeof SITUATIONS)[number]

/** Why a cell can not be, each with what shows it below. */
const IMPOSSIBLE = {
  'x alive': 'a task does not expire while its run may go on',
  'x unasked': 'nothing is asked before the start',
  'x answered': 'a task whose questions are all answered does not wait',
  'x sealed': 'a task of 2025-11-25 that was cancelled stays so, however its run ends',
} as const
type Cell =
  | extTasks.WireStatus
  | core2025.WireStatus
  | sep1686.WireStatus
  | 'not found'
  | keyof typeof IMPOSSIBLE

type Row = Readonly<Record<Situation, Cell>>
const row = (...cells: [Cell, Cell, Cell, Cell, Cell]): Row =>
  Object.fromEntries(SITUATIONS.map((situation, at) => [situation, cells[at]])) as Row

// biome-ignore format: a table
const TABLE: Readonly<Record<RunState, Readonly<Record<Form, Row>>>> = {
  starting: {
    'ext-tasks':       row('working', 'working', 'x unasked', 'x alive', 'working'),
    'core-2025-11-25': row('working', 'cancelled', 'x unasked', 'x alive', 'working'),
    'sep-1686':        row('submitted', 'submitted', 'x unasked', 'x alive', 'submitted'),
  },
  queued: {
    'ext-tasks':       row('working', 'working', 'working', 'x alive', 'working'),
    'core-2025-11-25': row('working', 'cancelled', 'working', 'x alive', 'working'),
    'sep-1686':        row('submitted', 'submitted', 'working', 'x alive', 'submitted'),
  },
  running: {
    'ext-tasks':       row('working', 'working', 'working', 'x alive', 'working'),
    'core-2025-11-25': row('working', 'cancelled', 'working', 'x alive', 'working'),
    'sep-1686':        row('working', 'working', 'working', 'x alive', 'working'),
  },
  waiting: {
    'ext-tasks':       row('input_required', 'input_required', 'x answered', 'x alive', 'working'),
    'core-2025-11-25': row('input_required', 'cancelled', 'x answered', 'x alive', 'working'),
    'sep-1686':        row('input_required', 'input_required', 'x answered', 'x alive', 'working'),
  },
  succeeded: {
    'ext-tasks':       row('completed', 'completed', 'completed', 'not found', 'completed'),
    'core-2025-11-25': row('completed', 'x sealed', 'completed', 'not found', 'completed'),
    'sep-1686':        row('completed', 'completed', 'completed', 'not found', 'completed'),
  },
  failed: {
    'ext-tasks':       row('completed', 'completed', 'completed', 'not found', 'completed'),
    'core-2025-11-25': row('failed', 'x sealed', 'failed', 'not found', 'failed'),
    'sep-1686':        row('completed', 'completed', 'completed', 'not found', 'completed'),
  },
  timed_out: {
    'ext-tasks':       row('completed', 'completed', 'completed', 'not found', 'completed'),
    'core-2025-11-25': row('failed', 'x sealed', 'failed', 'not found', 'failed'),
    'sep-1686':        row('completed', 'completed', 'completed', 'not found', 'completed'),
  },
  cancelled: {
    'ext-tasks':       row('cancelled', 'cancelled', 'cancelled', 'not found', 'cancelled'),
    'core-2025-11-25': row('cancelled', 'cancelled', 'cancelled', 'not found', 'cancelled'),
    'sep-1686':        row('cancelled', 'cancelled', 'cancelled', 'not found', 'cancelled'),
  },
  lost: {
    'ext-tasks':       row('failed', 'failed', 'failed', 'not found', 'failed'),
    'core-2025-11-25': row('failed', 'x sealed', 'failed', 'not found', 'failed'),
    'sep-1686':        row('failed', 'failed', 'failed', 'not found', 'failed'),
  },
}

const STATUS: Readonly<Record<Form, (task: Task, canBeAsked: boolean) => Cell>> = {
  'ext-tasks': (task, canBeAsked) => extTasks.detailedTask(task, { canBeAsked }).status,
  'core-2025-11-25': (task, canBeAsked) => core2025.wireTask(task, { canBeAsked }).status,
  'sep-1686': (task, canBeAsked) => sep1686.wireTask(task, { canBeAsked }).status,
}

const RUN = { id: 'run-1', attempt: 0 }
const GATE: Gate = { id: 'g', step: 'Approve', prompt: 'Deploy?', schema: { type: 'object', properties: {} } }
const look = (state: Exclude<RunState, 'starting'>, at: number): TaskEvent => ({
  type: 'snapshot',
  run: RUN,
  observedAt: at,
  snapshot: { state, nativeState: 'X', links: [], gates: state === 'waiting' ? [GATE] : [] },
})

function starting(form: Form): TaskRecord {
  const { run: _, ...blank } = taskRecord({ form, state: 'starting', refreshAfter: Number.MAX_SAFE_INTEGER })
  return blank
}

/** The life of a task to this state, with what the situation has on the way. */
function lived(state: RunState, form: Form, situation: Situation): TaskRecord {
  const life: TaskEvent[] = []
  const at = (event: TaskEvent) => life.push(event)
  if (situation === 'cancelled' && form !== 'core-2025-11-25') {
    at({ type: 'cancel_requested', reason: 'enough' })
    at({ type: 'cancel_sent' })
  }
  if (state !== 'starting') at({ type: 'started', run: RUN })
  if (situation === 'answered') {
    at(look('waiting', NOON + 1))
    at({ type: 'answered', key: 'g.1' })
  }
  if (state !== 'starting') at(look(state, NOON + 2))
  if (situation === 'cancelled' && form === 'core-2025-11-25') at({ type: 'sealed', reason: 'enough' })
  const record = life.reduce((task, event) => reduce(task, event, NOON + 3), starting(form))
  return { ...record, refreshAfter: Number.MAX_SAFE_INTEGER }
}

/** What the caller of this form is told of the record, through the store and the service. */
async function told(record: TaskRecord, form: Form, situation: Situation): Promise<Cell> {
  const store = memory()
  await store.create(record)
  const life = record.retainMs + 10
  const clock = manualClock({ start: situation === 'expired' ? NOON + life : NOON + 4 })
  const service = createTaskService({ store, tools: [], clock, validate: () => [] })
  try {
    return STATUS[form](await service.get(record), situation !== 'caller can not be asked')
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'task_not_found' })
    return 'not found'
  }
}

const PROOFS: Readonly<Record<keyof typeof IMPOSSIBLE, (state: RunState, form: Form) => void>> = {
  'x alive': (state, form) => expect(expiresAt(lived(state, form, 'plain'))).toBeUndefined(),
  'x unasked': (_, form) => {
    const before = starting(form)
    expect(openQuestions(before)).toEqual([])
    expect(reduce(before, look('waiting', NOON), NOON)).toBe(before)
  },
  'x answered': (state, form) => expect(lived(state, form, 'answered').state).not.toBe(state),
  'x sealed': (state, form) => {
    const sealed = lived('running', form, 'cancelled')
    expect(isTerminal(state)).toBe(true)
    expect(reduce(sealed, look(state as 'lost', NOON + 9), NOON + 9)).toMatchObject({ state: 'cancelled' })
  },
}

const cells = RUN_STATES.flatMap((state) =>
  FORMS.flatMap((form) => SITUATIONS.map((situation) => ({ state, form, situation }))),
)

describe('9 states x 3 wire forms x 5 situations', () => {
  it('no cell is missing', () => {
    expect(cells).toHaveLength(9 * 3 * 5)
    for (const { state, form, situation } of cells) expect(TABLE[state][form][situation]).toBeDefined()
  })

  it.each(cells)('$state, $form, $situation', async ({ state, form, situation }) => {
    const cell = TABLE[state][form][situation]
    if (cell in IMPOSSIBLE) return PROOFS[cell as keyof typeof IMPOSSIBLE](state, form)
    const record = lived(state, form, situation)
    const sealed = form === 'core-2025-11-25' && situation === 'cancelled'
    expect(record.state).toBe(sealed ? 'cancelled' : state)
    expect(await told(record, form, situation)).toBe(cell)
  })
})
