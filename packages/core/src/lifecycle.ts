import type { ErrorCode } from './errors.js'
import type { Gate, Marks, RunRef, Snapshot, TerminalState } from './run.js'
import { isTerminal, sameRun } from './run.js'
import {
  type CancelWish,
  type InputRecord,
  isSettled,
  nextEscalation,
  type TaskRecord,
  type WireForm,
} from './task.js'

/** What can happen to a task. Every event may come late, twice and in any order. */
export type TaskEvent =
  /** The start is settled: this run is ours. */
  | { readonly type: 'started'; readonly run: RunRef }
  /** The engine refused the start of a task whose id a client knows. */
  | { readonly type: 'start_refused'; readonly code: ErrorCode; readonly message: string }
  /** The start may have happened and nothing shows it. */
  | { readonly type: 'start_unsettled'; readonly message: string }
  /**
   * The id is about to leave, although the run is not known yet, or to another caller of the owner. One of a
   * protocol form (`form`) makes a task of it, which a plain one was not.
   */
  | { readonly type: 'id_published'; readonly form?: WireForm }
  /** Somebody reads the engine now; nobody else needs to before `until`. */
  | { readonly type: 'claimed'; readonly until: number }
  /** Read the engine at the next occasion. */
  | { readonly type: 'refresh_due' }
  /** The engine's word on a run. `observedAt`: when it was asked. */
  | {
      readonly type: 'snapshot'
      readonly run: RunRef
      readonly snapshot: Snapshot
      readonly marks?: Marks
      readonly observedAt: number
    }
  /** The engine denies the run; after `graceMs` of denial it is lost. */
  | { readonly type: 'absent'; readonly run: RunRef; readonly observedAt: number; readonly graceMs: number }
  /** The run or its start could not be read; after `maxRunMs` of life it can't be there any more. */
  | {
      readonly type: 'unreadable'
      readonly code: ErrorCode
      readonly reason: string
      readonly retryAt: number
      readonly maxRunMs?: number
    }
  | { readonly type: 'cancel_requested'; readonly reason: string }
  /** Cancelled for the client at once and for good. `reason`: the wish to stop; absent where a run can't be. */
  | { readonly type: 'sealed'; readonly reason?: string }
  /** The wish itself (0) or one of its escalations was sent; another is due `escalateAfterMs` later. */
  | { readonly type: 'cancel_sent'; readonly escalation?: number; readonly escalateAfterMs?: number }
  | { readonly type: 'answered'; readonly key: string }
  | { readonly type: 'answered_late'; readonly key: string }
  /** Dismissed without a choice: the same gate is asked again, under a new key. */
  | { readonly type: 'dismissed'; readonly key: string }
  | { readonly type: 'noted'; readonly note: string }

/**
 * The life of a task as a pure function. Returns the same object when the event changes nothing, so that
 * nothing is written for it. Terminal is final: no event leaves or alters an end. `updatedAt` moves with what
 * a client can see and never backwards.
 */
export function reduce(task: TaskRecord, event: TaskEvent, now: number): TaskRecord {
  const next = step(task, event, now)
  if (next === task || isTerminal(task.state) || visible(next) === visible(task)) return next
  return { ...next, updatedAt: Math.max(task.updatedAt, now) }
}

/** Everything of a record that reaches a client beside its times, as one comparable text. */
export function visible(task: TaskRecord): string {
  const { state, snapshot, unreadable, note, cancel, inputs, failure } = task
  return JSON.stringify([state, snapshot, unreadable, note, cancel, inputs, failure])
}

/** The key under which a gate is asked for the n-th time. */
export function inputKey(gateId: string, times: number): string {
  return `${gateId}.${times}`
}

/** The open questions of a task with the gates they belong to, in the order in which they were asked. */
export function openQuestions(task: TaskRecord): readonly { readonly key: string; readonly gate: Gate }[] {
  const gates = new Map(task.snapshot?.gates.map((gate) => [gate.id, gate]))
  return task.inputs.flatMap(({ key, gateId, state }) => {
    const gate = gates.get(gateId)
    return state === 'open' && gate !== undefined ? [{ key, gate }] : []
  })
}

function step(task: TaskRecord, event: TaskEvent, now: number): TaskRecord {
  if (isTerminal(task.state)) return isSettled(task) ? task : pursue(task, event, now)
  switch (event.type) {
    case 'started':
      if (task.state !== 'starting') return task
      return { ...omit(task, 'unreadable'), state: 'running', run: event.run, idKnown: true }
    case 'start_refused':
      return task.state === 'starting' ? end(task, 'failed', now, failure(event)) : task
    case 'start_unsettled':
      return task.state === 'starting'
        ? end(task, 'lost', now, failure({ code: 'unknown_outcome', message: event.message }))
        : task
    case 'id_published':
      return publish(task, event.form ?? 'plain')
    case 'claimed':
      return event.until > task.refreshAfter ? { ...task, refreshAfter: event.until } : task
    case 'refresh_due':
      return task.refreshAfter > now ? { ...task, refreshAfter: now } : task
    case 'snapshot':
      return observe(task, event, now)
    case 'absent':
      return deny(task, event, now)
    case 'unreadable':
      return fail(task, event, now)
    case 'cancel_requested':
      return task.cancel ? task : { ...task, cancel: { reason: event.reason, requestedAt: now } }
    case 'sealed': {
      const cancel = task.cancel ?? (event.reason !== undefined && { reason: event.reason, requestedAt: now })
      return { ...end(task, 'cancelled', now, {}), ...(cancel && { cancel }), sealed: {} }
    }
    case 'cancel_sent':
      return sent(task, event, now)
    case 'answered':
      return settleInput(task, event.key, 'answered', now)
    case 'answered_late':
      return settleInput(task, event.key, 'late', now)
    case 'dismissed':
      return settleInput(task, event.key, 'closed', now, true)
    case 'noted':
      return task.note === event.note ? task : { ...task, note: event.note }
    default:
      return event satisfies never
  }
}

function publish(task: TaskRecord, form: WireForm): TaskRecord {
  const formed = task.form === 'plain' ? form : task.form
  return task.idKnown && task.form === formed ? task : { ...task, idKnown: true, form: formed }
}

function sent(task: TaskRecord, event: TaskEvent & { type: 'cancel_sent' }, now: number): TaskRecord {
  const { escalation = 0, escalateAfterMs } = event
  if (!task.cancel || nextEscalation(task.cancel) !== escalation) return task
  const { reason, requestedAt, sentAt = now } = task.cancel
  const cancel: CancelWish = {
    reason,
    requestedAt,
    sentAt,
    ...(escalation > 0 && { escalations: escalation }),
    ...(escalateAfterMs !== undefined && { escalateAt: now + escalateAfterMs }),
  }
  return { ...task, cancel, refreshAfter: Math.min(task.refreshAfter, now) }
}

/** What of a record may still change once its task is sealed: how its run is followed, nothing that is shown. */
const FOLLOWED = ['run', 'cancel', 'marks', 'observedAt', 'absentSince', 'refreshAfter'] as const

/** The run of a sealed task is followed like any other, to its end; the task stays as the client saw it last. */
function pursue(task: TaskRecord, event: TaskEvent, now: number): TaskRecord {
  if (event.type === 'sealed') return task
  const state = task.run ? 'running' : 'starting'
  const next = step({ ...omit(task, 'sealed', 'endedAt', 'snapshot'), state, inputs: [] }, event, now)
  if (isTerminal(next.state)) return { ...task, sealed: { runEnd: next.state } }
  if (FOLLOWED.every((key) => next[key] === task[key])) return task
  const kept = FOLLOWED.filter((key) => next[key] !== undefined).map((key) => [key, next[key]] as const)
  return { ...omit(task, ...FOLLOWED), ...Object.fromEntries(kept) } as TaskRecord
}

function observe(task: TaskRecord, event: TaskEvent & { type: 'snapshot' }, now: number): TaskRecord {
  if (!task.run || !sameRun(task.run, event.run)) return task
  const { snapshot, observedAt } = event
  const seen = { snapshot, observedAt, ...(event.marks && { marks: event.marks }) }
  if (isTerminal(snapshot.state)) {
    const lost =
      snapshot.state === 'lost' && failure({ code: 'unknown_outcome', message: lostMessage(snapshot) })
    return { ...end(task, snapshot.state, now, lost || {}), ...seen }
  }
  if (task.observedAt !== undefined && observedAt < task.observedAt) return task
  const inputs = askedInputs(task.inputs, snapshot.gates, now)
  const begun = snapshot.state !== 'queued' && { begun: true as const }
  return settle({ ...omit(task, 'unreadable', 'absentSince'), ...seen, ...begun, inputs })
}

function deny(task: TaskRecord, event: TaskEvent & { type: 'absent' }, now: number): TaskRecord {
  if (!task.run || !sameRun(task.run, event.run)) return task
  if (task.observedAt !== undefined && event.observedAt < task.observedAt) return task
  const absentSince = task.absentSince ?? event.observedAt
  if (event.observedAt - absentSince < event.graceMs) {
    return task.absentSince === absentSince ? task : { ...task, absentSince }
  }
  const message = 'The engine knows this run no more; how it ended, if it ended, can not be told.'
  return end(task, 'lost', now, failure({ code: 'unknown_outcome', message }))
}

function fail(task: TaskRecord, event: TaskEvent & { type: 'unreadable' }, now: number): TaskRecord {
  if (event.maxRunMs !== undefined && now - task.createdAt > event.maxRunMs) {
    const message = `The run could not be read (${event.reason}) and its longest possible life is over.`
    return end(task, 'lost', now, failure({ code: 'unknown_outcome', message }))
  }
  const { code, reason } = event
  const unreadable = { since: task.unreadable?.since ?? now, code, reason }
  return { ...task, unreadable, refreshAfter: Math.max(task.refreshAfter, event.retryAt) }
}

/** Gates that are open now against the questions put so far: closes what is gone, asks what is new. */
function askedInputs(inputs: readonly InputRecord[], gates: readonly Gate[], now: number): InputRecord[] {
  const open = new Set(gates.map((gate) => gate.id))
  const next = inputs.map((input): InputRecord => {
    if (open.has(input.gateId) || input.gone) return input
    return input.state === 'open'
      ? { ...input, state: 'closed', settledAt: now, gone: true }
      : { ...input, gone: true }
  })
  for (const { id } of gates) {
    const asked = next.filter((input) => input.gateId === id)
    if (asked.length === 0 || asked.at(-1)?.gone) next.push(ask(id, asked.length + 1, now))
  }
  return next
}

function ask(gateId: string, times: number, now: number): InputRecord {
  return { key: inputKey(gateId, times), gateId, state: 'open', askedAt: now }
}

function settleInput(
  task: TaskRecord,
  key: string,
  state: 'answered' | 'late' | 'closed',
  now: number,
  again = false,
): TaskRecord {
  const input = task.inputs.find((candidate) => candidate.key === key)
  if (input?.state !== 'open') return task
  const inputs = task.inputs.map((each) => (each === input ? { ...each, state, settledAt: now } : each))
  if (again) {
    const times = inputs.filter((each) => each.gateId === input.gateId).length
    inputs.push(ask(input.gateId, times + 1, now))
  }
  const note =
    state === 'late' ? { note: `The answer to ${key} came too late: the step no longer waits.` } : {}
  return settle({ ...task, ...note, inputs, refreshAfter: Math.min(task.refreshAfter, now) })
}

/** Whether the task waits follows from its open questions alone. */
function settle(task: TaskRecord): TaskRecord {
  if (task.state === 'starting') return task
  const reported = task.snapshot?.state === 'queued' ? 'queued' : 'running'
  return { ...task, state: openQuestions(task).length > 0 ? 'waiting' : reported }
}

function end(
  task: TaskRecord,
  state: TerminalState,
  now: number,
  extra: Pick<TaskRecord, 'failure'> | Record<string, never>,
): TaskRecord {
  const inputs = task.inputs.map(
    (input): InputRecord => (input.state === 'open' ? { ...input, state: 'closed', settledAt: now } : input),
  )
  return { ...omit(task, 'unreadable', 'absentSince'), ...extra, inputs, state, endedAt: now }
}

function failure(error: { code: ErrorCode; message: string }): Pick<TaskRecord, 'failure'> {
  return { failure: { code: error.code, message: error.message } }
}

function lostMessage(snapshot: Snapshot): string {
  return snapshot.error?.message ?? 'The engine gave this run up; how it ended can not be told.'
}

function omit<K extends keyof TaskRecord>(task: TaskRecord, ...keys: K[]): Omit<TaskRecord, K> {
  const rest: Partial<TaskRecord> = { ...task }
  for (const key of keys) delete rest[key]
  return rest as Omit<TaskRecord, K>
}
