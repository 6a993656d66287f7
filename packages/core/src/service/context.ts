import type { Clock } from '../clock.js'
import { RunbridgeError } from '../errors.js'
import type { Ids } from '../ids.js'
import type { Json, JsonSchema } from '../json.js'
import { openQuestions, reduce, type TaskEvent, visible } from '../lifecycle.js'
import { isTerminal } from '../run.js'
import type { TaskStore } from '../store.js'
import { isExpired, type TaskKey, type TaskRecord } from '../task.js'
import type { TaskTool } from '../tool.js'
import { type Admission, createAdmission } from './admission.js'
import { createAnnouncements } from './announcements.js'
import { askAgainIn } from './interval.js'
import type { Task } from './task-service.js'

/** What the service writes about its own doings; pino's loggers fit. Never given secrets or arguments. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * The moments between a call and its handle at which a process can die. Every await of a start lies between
 * two of them; the fault tests kill a server at each.
 */
export const CREATE_STEPS = [
  'record.creating',
  'record.created',
  'name.claiming',
  'name.claimed',
  'start.sending',
  'start.answered',
  'reference.setting',
  'reference.set',
  'wish.sending',
  'wish.sent',
  'find.sending',
  'find.answered',
  'handle.leaving',
] as const
export type CreateStep = (typeof CREATE_STEPS)[number]

export interface ServiceOptions {
  readonly store: TaskStore
  readonly tools: readonly TaskTool[]
  /** Default: the store's, where it has one, else the system's. */
  readonly clock?: Clock
  /** Default: random ids. */
  readonly ids?: Ids
  /** What of the value breaks the schema, as sentences that name path and rule; empty when it fits. */
  readonly validate: (schema: JsonSchema, value: Json) => readonly string[]
  /** Default: silent. */
  readonly log?: Log
  /** How long a starter tries to settle its start, in ms. Default 20,000. */
  readonly startTimeoutMs?: number
  /** How long one attempt to start may take, in ms. Default 10,000. */
  readonly attemptTimeoutMs?: number
  /** How long one read, cancel or answer may take, in ms. Default 10,000. */
  readonly requestTimeoutMs?: number
  /** The pause between two attempts to settle an unknown start, in ms. Default 250. */
  readonly settlePauseMs?: number
  /** By how much the clocks of two replicas may differ, in ms. Default 2,000. */
  readonly clockAllowanceMs?: number
  /** How many open tasks one owner may have; a call that would make one more is refused as `limit`. Default: any number. */
  readonly maxOpenTasks?: number
  /** Called when the run of a sealed task has ended, as `sealed.runEnd` says; nobody else is told. Default: a line in the log. */
  readonly onRunEnd?: (record: TaskRecord) => void
  /** Called at each step of a start; for fault tests. */
  readonly onStep?: (step: CreateStep) => void
}

/** What the parts of the service share. */
export interface ServiceContext extends Required<Omit<ServiceOptions, 'tools'>> {
  tool(name: string): TaskTool | undefined
  /** The record, or `task_not_found` for an unknown, foreign or expired one. */
  read(key: TaskKey): Promise<TaskRecord>
  /**
   * Applies events to the record, again to the fresh one on every conflict, so that none is dropped.
   * Undefined when the record is gone, whatever has its id now.
   */
  apply(record: TaskRecord, ...events: TaskEvent[]): Promise<TaskRecord | undefined>
  readonly admission: Admission
  view(record: TaskRecord): Task
  /** The record under the id with which its handle leaves. */
  published(record: TaskRecord): TaskRecord
  /** A signal that aborts after `ms`. */
  within(ms: number): AbortSignal
  subscribe(key: TaskKey, listener: (task: Task) => void): () => void
}

/** The one answer for an unknown, a foreign and an expired id. */
export function notFound(): RunbridgeError {
  return new RunbridgeError('task_not_found', 'Task not found')
}

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} }

export function createContext(
  options: ServiceOptions & { readonly clock: Clock; readonly ids: Ids },
): ServiceContext {
  const tools = new Map(options.tools.map((tool) => [tool.name, tool]))
  const { store, clock } = options
  const log = options.log ?? silent

  const view = (record: TaskRecord): Task => ({
    record,
    questions: isTerminal(record.state) ? [] : openQuestions(record),
    pollIntervalMs: askAgainIn(record, clock.now()),
  })

  const { subscribe, changed } = createAnnouncements(store, view, log)

  const logRunEnd = ({ owner, taskId, tool, run, sealed }: TaskRecord) =>
    log.info(
      { owner, taskId, tool, run: run?.id, runEnd: sealed?.runEnd },
      'the run of a cancelled task has ended',
    )
  const { onRunEnd = logRunEnd, maxOpenTasks = Number.POSITIVE_INFINITY } = options

  const announce = (before: TaskRecord, after: TaskRecord) => {
    if (after.sealed?.runEnd !== undefined && before.sealed?.runEnd === undefined) {
      onRunEnd(after)
    }
    if (visible(before) !== visible(after)) changed(after)
  }

  /** A store that keeps nothing sees an end anew at every look: the engine's own time for it stands still. */
  const moment = (event: TaskEvent): number => {
    const now = clock.now()
    const endedAt = store.idOf && event.type === 'snapshot' ? event.snapshot.endedAt : undefined
    return endedAt === undefined ? now : Math.min(now, endedAt)
  }

  return {
    settlePauseMs: 250,
    startTimeoutMs: 20_000,
    attemptTimeoutMs: 10_000,
    requestTimeoutMs: 10_000,
    clockAllowanceMs: 2_000,
    onStep: () => {},
    onRunEnd,
    maxOpenTasks,
    ...options,
    log,
    admission: createAdmission(store, maxOpenTasks),
    tool: (name) => tools.get(name),
    async read(key) {
      const record = await store.get(key)
      const known = record && (!store.idOf || tools.get(record.tool)?.workflow.id === record.workflow)
      if (!known || isExpired(record, clock.now())) throw notFound()
      return record
    },
    async apply(record, ...events) {
      let current = record
      for (;;) {
        const before = current
        const next = events.reduce((task, event) => reduce(task, event, moment(event)), before)
        if (next === before) return before
        const outcome = await store.update(next)
        if (outcome === 'updated') {
          const after = { ...next, version: next.version + 1 }
          announce(before, after)
          return after
        }
        const fresh = outcome === 'missing' ? undefined : await store.get(record)
        // Another task may have the id by now.
        if (fresh?.runKey !== record.runKey) return undefined
        current = fresh
      }
    },
    view,
    published: (record) => (store.idOf ? { ...record, taskId: store.idOf(record) } : record),
    within: (ms) => clock.timeout(ms),
    subscribe,
  }
}
