import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inputKey, openQuestions, reduce, type TaskEvent, visible } from './lifecycle.js'
import { type Gate, isTerminal, RUN_STATES, type RunRef, type Snapshot, TERMINAL_STATES } from './run.js'
import {
  dueAfter,
  expiresAt,
  IDLE_MS,
  IDLE_STEP_MS,
  isSettled,
  nextEscalation,
  type TaskRecord,
} from './task.js'

const T0 = 1_000_000
const RUN: RunRef = { id: 'run-1', attempt: 0 }
const SECOND_ATTEMPT: RunRef = { id: 'run-1', attempt: 1 }

const gate = (id: string): Gate => ({ id, step: id, prompt: `${id}?`, schema: { type: 'object' } })

const snapshot = (state: Snapshot['state'], gates: Gate[] = []): Snapshot => ({
  state,
  nativeState: state.toUpperCase(),
  gates,
  links: [],
})

const starting: TaskRecord = {
  owner: 'local',
  taskId: 'tsk_1',
  version: 1,
  tool: 'deploy',
  backend: 'fake',
  workflow: 'w',
  form: 'ext-tasks',
  runKey: 'rb-1',
  inputDigest: 'd',
  startDeadline: T0 + 20_000,
  idKnown: false,
  state: 'starting',
  createdAt: T0,
  updatedAt: T0,
  retainMs: 60_000,
  inputs: [],
  refreshAfter: T0,
}
const running = reduce(starting, { type: 'started', run: RUN }, T0)

const look = (shot: Snapshot, observedAt: number, run = RUN): TaskEvent => ({
  type: 'snapshot',
  run,
  snapshot: shot,
  observedAt,
})

const arbitraryGates = fc
  .uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 })
  .map((ids) => ids.map(gate))
const arbitrarySnapshot = fc.oneof(
  {
    weight: 4,
    arbitrary: arbitraryGates.map((gates) => snapshot(gates.length > 0 ? 'waiting' : 'running', gates)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('queued' as const, ...TERMINAL_STATES).map((state) => snapshot(state)),
  },
)
const arbitraryTime = fc.integer({ min: T0, max: T0 + 100_000 })
const arbitraryRun = fc.constantFrom(RUN, RUN, RUN, SECOND_ATTEMPT, { id: 'run-2', attempt: 0 })
const arbitraryKey = fc.constantFrom('a.1', 'a.2', 'b.1', 'c.1', 'never.1')
const arbitraryEvent: fc.Arbitrary<TaskEvent> = fc.oneof(
  fc.record({ type: fc.constant('started' as const), run: arbitraryRun }),
  fc.record({ type: fc.constant('start_unsettled' as const), message: fc.constant('gone') }),
  fc.record({
    type: fc.constant('start_refused' as const),
    code: fc.constant('denied' as const),
    message: fc.constant('no'),
  }),
  fc.record({ type: fc.constant('id_published' as const) }),
  fc.record({ type: fc.constant('claimed' as const), until: arbitraryTime }),
  fc.record({ type: fc.constant('refresh_due' as const) }),
  fc.record({
    type: fc.constant('snapshot' as const),
    run: arbitraryRun,
    snapshot: arbitrarySnapshot,
    observedAt: arbitraryTime,
  }),
  fc.record({
    type: fc.constant('absent' as const),
    run: arbitraryRun,
    observedAt: arbitraryTime,
    graceMs: fc.constant(5_000),
  }),
  fc.record({
    type: fc.constant('unreadable' as const),
    code: fc.constantFrom('throttled' as const, 'denied' as const),
    reason: fc.string(),
    retryAt: arbitraryTime,
  }),
  fc.record({ type: fc.constant('cancel_requested' as const), reason: fc.constant('enough') }),
  fc.record(
    { type: fc.constant('sealed' as const), reason: fc.constant('enough') },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: fc.constant('cancel_sent' as const),
      escalation: fc.nat(2),
      escalateAfterMs: fc.nat(10_000),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record({
    type: fc.constantFrom('answered' as const, 'answered_late' as const, 'dismissed' as const),
    key: arbitraryKey,
  }),
  fc.record({ type: fc.constant('noted' as const), note: fc.constant('note') }),
)
const arbitraryLife = fc.array(fc.tuple(arbitraryEvent, arbitraryTime), { maxLength: 40 })

function live(
  life: readonly (readonly [TaskEvent, number])[],
  check: (before: TaskRecord, after: TaskRecord, event: TaskEvent) => void,
) {
  let task = starting
  for (const [event, now] of life) {
    const after = reduce(task, event, now)
    check(task, after, event)
    task = after
  }
  return task
}

describe('every sequence of events', () => {
  it('leaves an end exactly as it was recorded', () => {
    fc.assert(
      fc.property(arbitraryLife, (life) => {
        live(life, (before, after) => {
          if (!isTerminal(before.state)) return
          if (isSettled(before)) expect(after).toBe(before)
          const shown = ({ cancel: _, ...rest }: TaskRecord) => [visible(rest), rest.updatedAt, rest.endedAt]
          expect(shown(after)).toEqual(shown(before))
        })
      }),
    )
  })

  it('ends a task only by the word of the engine on our own attempt, or by a denial that lasted', () => {
    fc.assert(
      fc.property(arbitraryLife, (life) => {
        live(life, (before, after, event) => {
          if (isTerminal(before.state) || !isTerminal(after.state)) return
          if (event.type === 'snapshot') {
            expect(event.run).toEqual(before.run)
            expect(after.state).toBe(event.snapshot.state)
          } else if (event.type === 'absent') {
            expect(event.run).toEqual(before.run)
            expect(event.observedAt - (before.absentSince ?? event.observedAt)).toBeGreaterThanOrEqual(
              event.graceMs,
            )
            expect(after.state).toBe('lost')
          } else if (event.type === 'sealed') {
            expect(after.state).toBe('cancelled')
          } else {
            expect(before.state).toBe('starting')
            expect(['start_unsettled', 'start_refused']).toContain(event.type)
          }
        })
      }),
    )
  })

  it('never drops an end that the engine reports of our attempt', () => {
    fc.assert(
      fc.property(
        arbitraryLife,
        fc.constantFrom(...TERMINAL_STATES),
        arbitraryTime,
        (life, state, observedAt) => {
          const before = live(life, () => {})
          fc.pre(!isTerminal(before.state) && before.run !== undefined)
          expect(reduce(before, look(snapshot(state), observedAt, before.run), T0).state).toBe(state)
        },
      ),
    )
  })

  it('never returns to starting and never changes a run reference', () => {
    fc.assert(
      fc.property(arbitraryLife, (life) => {
        live(life, (before, after) => {
          if (before.state !== 'starting') expect(after.state).not.toBe('starting')
          if (before.run) expect(after.run).toEqual(before.run)
        })
      }),
    )
  })

  it('never uses an input key twice, and never opens one again', () => {
    fc.assert(
      fc.property(arbitraryLife, (life) => {
        live(life, (before, after) => {
          const keys = after.inputs.map(({ key }) => key)
          expect(new Set(keys).size).toBe(keys.length)
          for (const [index, input] of before.inputs.entries()) {
            expect(after.inputs[index]?.key).toBe(input.key)
            if (input.state !== 'open') expect(after.inputs[index]?.state).toBe(input.state)
          }
        })
      }),
    )
  })

  it('waits exactly while a question is open', () => {
    fc.assert(
      fc.property(arbitraryLife, (life) => {
        live(life, (_, after) => {
          if (isTerminal(after.state)) expect(after.inputs.some(({ state }) => state === 'open')).toBe(false)
          else expect(after.state === 'waiting').toBe(openQuestions(after).length > 0)
        })
      }),
    )
  })

  it('moves updatedAt with what a client sees, and never backwards', () => {
    fc.assert(
      fc.property(arbitraryLife, (life) => {
        live(life, (before, after) => {
          expect(after.updatedAt).toBeGreaterThanOrEqual(before.updatedAt)
          if (visible(before) === visible(after)) expect(after.updatedAt).toBe(before.updatedAt)
        })
      }),
    )
  })

  it('comes to the same end when events arrive twice', () => {
    fc.assert(
      fc.property(arbitraryLife, (life) => {
        const once = live(life, () => {})
        const again = (event: TaskEvent) => event.type !== 'absent' && event.type !== 'claimed'
        const repeated = life.flatMap((entry) => (again(entry[0]) ? [entry, entry] : [entry]))
        const twice = live(repeated, () => {})
        expect(twice.state).toBe(once.state)
        expect(twice.run).toEqual(once.run)
      }),
    )
  })

  it('comes to the same end in whatever order conflicting writers apply the looks of one moment', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 5 }), (order) => {
        const looks = order.map((n) => look(snapshot(n === 5 ? 'succeeded' : 'running'), T0 + n))
        const end = looks.reduce((task, event) => reduce(task, event, T0 + 10), running)
        expect(end.state).toBe('succeeded')
      }),
    )
  })
})

describe('cancelling', () => {
  it('is a wish until the engine confirms it, and a run that finished first keeps its result', () => {
    const wished = reduce(running, { type: 'cancel_requested', reason: 'enough' }, T0 + 1)
    expect(wished.state).toBe('running')
    const sent = reduce(wished, { type: 'cancel_sent' }, T0 + 2)
    expect(sent.cancel).toEqual({ reason: 'enough', requestedAt: T0 + 1, sentAt: T0 + 2 })
    expect(reduce(sent, look(snapshot('cancelled'), T0 + 3), T0 + 3).state).toBe('cancelled')
    expect(reduce(sent, look(snapshot('succeeded'), T0 + 3), T0 + 3).state).toBe('succeeded')
  })

  it('is sent again when it is due, each escalation once', () => {
    const wished = reduce(running, { type: 'cancel_requested', reason: 'enough' }, T0 + 1)
    expect(nextEscalation(wished.cancel!)).toBe(0)
    const sent = reduce(wished, { type: 'cancel_sent', escalateAfterMs: 100 }, T0 + 2)
    expect(sent.cancel).toMatchObject({ sentAt: T0 + 2, escalateAt: T0 + 102 })
    expect(reduce(sent, { type: 'cancel_sent', escalateAfterMs: 900 }, T0 + 3)).toBe(sent)
    expect([nextEscalation(sent.cancel!), dueAfter(sent)]).toEqual([1, T0 + 102])
    const forced = reduce(sent, { type: 'cancel_sent', escalation: 1 }, T0 + 200)
    expect(forced.cancel).toEqual({ reason: 'enough', requestedAt: T0 + 1, sentAt: T0 + 2, escalations: 1 })
    expect(reduce(forced, { type: 'cancel_sent', escalation: 1 }, T0 + 201)).toBe(forced)
    const hour = forced.refreshAfter + IDLE_MS
    expect(dueAfter(forced)).toBeGreaterThanOrEqual(hour)
    expect(dueAfter(forced)).toBeLessThan(hour + IDLE_STEP_MS)
  })

  it('is due for the sweeper at the same moment after every look of ten minutes', () => {
    const looked = [0, 1_000, IDLE_STEP_MS - 1].map((ms) => ({
      ...running,
      refreshAfter: IDLE_STEP_MS * 7 + 1 + ms,
    }))
    expect(new Set(looked.map(dueAfter))).toEqual(new Set([IDLE_STEP_MS * 8 + IDLE_MS]))
    expect(dueAfter({ ...running, refreshAfter: IDLE_STEP_MS * 8 + 1 })).toBe(IDLE_STEP_MS * 9 + IDLE_MS)
  })

  it('keeps the first wish when it is repeated, also during starting', () => {
    const wished = reduce(starting, { type: 'cancel_requested', reason: 'enough' }, T0 + 1)
    expect(reduce(wished, { type: 'cancel_requested', reason: 'again' }, T0 + 2)).toBe(wished)
    expect(reduce(wished, { type: 'started', run: RUN }, T0 + 3).cancel?.sentAt).toBeUndefined()
  })
})

describe('sealing', () => {
  const sealed = reduce(running, { type: 'sealed', reason: 'enough' }, T0 + 1)
  const absent = (at: number): TaskEvent => ({ type: 'absent', run: RUN, observedAt: at, graceMs: 5_000 })

  it('is cancelled at once and for good, whatever becomes of the run, whose true end is kept beside it', () => {
    expect(sealed).toMatchObject({ state: 'cancelled', endedAt: T0 + 1, cancel: { requestedAt: T0 + 1 } })
    for (const state of TERMINAL_STATES) {
      const ended = reduce(sealed, look(snapshot(state), T0 + 2), T0 + 2)
      expect(ended).toEqual({ ...sealed, sealed: { runEnd: state } })
      expect(reduce(ended, look(snapshot('failed'), T0 + 3), T0 + 3)).toBe(ended)
    }
  })

  it('needs the sweeper until the run has ended, and expires only then', () => {
    expect(dueAfter(reduce(sealed, { type: 'cancel_sent' }, T0 + 2))).toBe(T0)
    expect([isSettled(sealed), expiresAt(sealed)]).toEqual([false, undefined])
    const ended = reduce(sealed, look(snapshot('succeeded'), T0 + 2), T0 + 2)
    expect([isSettled(ended), dueAfter(ended), expiresAt(ended)]).toEqual([true, undefined, T0 + 60_001])
  })

  it('follows a start that is not settled yet, and one that never is', () => {
    const early = reduce(starting, { type: 'sealed', reason: 'enough' }, T0 + 1)
    const started = reduce(early, { type: 'started', run: RUN }, T0 + 2)
    expect(started).toMatchObject({ state: 'cancelled', run: RUN, sealed: {} })
    expect(reduce(started, look(snapshot('succeeded'), T0 + 3), T0 + 3).sealed?.runEnd).toBe('succeeded')
    expect(reduce(early, { type: 'start_unsettled', message: 'gone' }, T0 + 2).sealed?.runEnd).toBe('lost')
    expect(reduce(early, { type: 'start_refused', code: 'denied', message: 'no' }, T0 + 2)).toEqual({
      ...early,
      sealed: { runEnd: 'failed' },
    })
  })

  it('sees a denial of the run through its grace, and is sealed once', () => {
    const once = reduce(sealed, absent(T0 + 1_000), T0 + 1_000)
    expect(once.absentSince).toBe(T0 + 1_000)
    const seen = reduce(once, look(snapshot('running'), T0 + 2_000), T0 + 2_000)
    expect(seen.absentSince).toBeUndefined()
    expect(reduce(seen, absent(T0 + 7_000), T0 + 7_000).sealed).toEqual({})
    expect(reduce(once, absent(T0 + 6_000), T0 + 6_000).sealed).toEqual({ runEnd: 'lost' })
    expect(reduce(sealed, { type: 'sealed', reason: 'again' }, T0 + 2)).toBe(sealed)
  })

  it('records no wish for a run that can not be stopped', () => {
    expect(reduce(running, { type: 'sealed' }, T0 + 1)).not.toHaveProperty('cancel')
  })

  it('leaves an end as it is', () => {
    const done = reduce(running, look(snapshot('succeeded'), T0 + 1), T0 + 1)
    expect(reduce(done, { type: 'sealed', reason: 'late' }, T0 + 2)).toBe(done)
  })
})

it('remembers that the run has begun', () => {
  const queued = reduce(running, look(snapshot('queued'), T0 + 1), T0 + 1)
  expect(queued.begun).toBeUndefined()
  const begun = reduce(queued, look(snapshot('running'), T0 + 2), T0 + 2)
  expect(reduce(begun, look(snapshot('queued'), T0 + 3), T0 + 3).begun).toBe(true)
})

describe('a denied run', () => {
  const absent = (at: number): TaskEvent => ({ type: 'absent', run: RUN, observedAt: at, graceMs: 5_000 })

  it('is lost only after the grace period', () => {
    const once = reduce(running, absent(T0 + 1_000), T0 + 1_000)
    expect(once.state).toBe('running')
    expect(reduce(once, absent(T0 + 5_999), T0 + 5_999).state).toBe('running')
    expect(reduce(once, absent(T0 + 6_000), T0 + 6_000)).toMatchObject({
      state: 'lost',
      failure: { code: 'unknown_outcome' },
    })
  })

  it('starts its grace anew when a look saw it in between', () => {
    const once = reduce(running, absent(T0 + 1_000), T0 + 1_000)
    const seen = reduce(once, look(snapshot('running'), T0 + 2_000), T0 + 2_000)
    expect(reduce(seen, absent(T0 + 7_000), T0 + 7_000).state).toBe('running')
  })

  it('is not lost by an answer that is older than a look that saw it', () => {
    const seen = reduce(running, look(snapshot('running'), T0 + 9_000), T0 + 9_000)
    expect(reduce(seen, absent(T0 + 8_000), T0 + 10_000)).toBe(seen)
  })
})

describe('an unreadable run', () => {
  const denied: TaskEvent = {
    type: 'unreadable',
    code: 'denied',
    reason: 'no permission',
    retryAt: T0 + 2_000,
  }

  it('keeps its state for days, with the time since when it could not be read', () => {
    const first = reduce(running, denied, T0 + 1_000)
    const later = reduce(first, denied, T0 + 5 * 86_400_000)
    expect(later).toMatchObject({ state: 'running', unreadable: { since: T0 + 1_000, code: 'denied' } })
    expect(later.updatedAt).toBe(T0 + 1_000)
    expect(
      reduce(later, look(snapshot('running'), T0 + 5 * 86_400_001), T0 + 5 * 86_400_001).unreadable,
    ).toBeUndefined()
  })

  it('is lost once its longest possible life is over', () => {
    const event: TaskEvent = { ...denied, type: 'unreadable', maxRunMs: 1_000 }
    expect(reduce(running, event, T0 + 1_000).state).toBe('running')
    expect(reduce(running, event, T0 + 1_001).state).toBe('lost')
  })
})

describe('gates', () => {
  const asked = reduce(running, look(snapshot('waiting', [gate('a'), gate('b')]), T0 + 1), T0 + 1)

  it('are asked once each, and the task waits until all are answered', () => {
    expect(openQuestions(asked).map(({ key }) => key)).toEqual(['a.1', 'b.1'])
    const one = reduce(asked, { type: 'answered', key: 'a.1' }, T0 + 2)
    expect(one.state).toBe('waiting')
    expect(reduce(one, { type: 'answered', key: 'b.1' }, T0 + 3).state).toBe('running')
  })

  it('that were answered stay answered while the engine still shows them', () => {
    const answered = reduce(asked, { type: 'answered', key: 'a.1' }, T0 + 2)
    const stale = reduce(answered, look(snapshot('waiting', [gate('a'), gate('b')]), T0 + 3), T0 + 3)
    expect(openQuestions(stale).map(({ key }) => key)).toEqual(['b.1'])
  })

  it('that open again are a new question', () => {
    const closed = reduce(asked, look(snapshot('waiting', [gate('b')]), T0 + 2), T0 + 2)
    expect(closed.inputs[0]?.state).toBe('closed')
    const again = reduce(closed, look(snapshot('waiting', [gate('a'), gate('b')]), T0 + 3), T0 + 3)
    expect(openQuestions(again).map(({ key }) => key)).toEqual(['b.1', inputKey('a', 2)])
  })

  it('that were dismissed are asked again under a new key', () => {
    const dismissed = reduce(asked, { type: 'dismissed', key: 'a.1' }, T0 + 2)
    expect(openQuestions(dismissed).map(({ key }) => key)).toEqual(['b.1', 'a.2'])
  })

  it('that were answered too late say so and are not asked again', () => {
    const late = reduce(asked, { type: 'answered_late', key: 'a.1' }, T0 + 2)
    expect(late.note).toContain('too late')
    expect(openQuestions(late).map(({ key }) => key)).toEqual(['b.1'])
  })
})

it('every state of the engine leads to itself', () => {
  for (const state of RUN_STATES) {
    if (state === 'starting' || state === 'waiting') continue
    expect(reduce(running, look(snapshot(state), T0 + 1), T0 + 1).state).toBe(state)
  }
})
