import type { ErrorCode } from './errors.js'
import {
  isTerminal,
  type Marks,
  type RunRef,
  type RunState,
  type Snapshot,
  type TerminalState,
} from './run.js'

/**
 * The published shapes of tasks, and `plain` for callers that have none.
 * `ext-tasks`: the 2026-07-28 extension `io.modelcontextprotocol/tasks`; `core-2025-11-25`: the experimental
 * core tasks; `sep-1686`: the draft with ids made by the client.
 */
export const WIRE_FORMS = ['ext-tasks', 'core-2025-11-25', 'sep-1686', 'plain'] as const
export type WireForm = (typeof WIRE_FORMS)[number]

/**
 * The caller a task belongs to: issuer and subject, an IAM role, or `local` on stdio and unauthenticated
 * loopback. Compared for equality only.
 */
export type Owner = string
export const LOCAL_OWNER: Owner = 'local'

/**
 * Of the longest task ids that we make, the sealed ones, in characters: anything longer is none of them and need not reach
 * the store. Ids travel in headers, and through models.
 */
export const MAX_TASK_ID = 1_023

/** One question that was put to the caller. Its key is never used again (ext-tasks, "Task Update Requests"). */
export interface InputRecord {
  /** The gate's id plus the number of times it was asked. */
  readonly key: string
  readonly gateId: string
  /**
   * `open`: waits for an answer. `answered`: ours was delivered. `late`: ours came too late. `closed`: the
   * gate closed without us, or was asked again under a new key.
   */
  readonly state: 'open' | 'answered' | 'late' | 'closed'
  /** ms since the epoch. */
  readonly askedAt: number
  readonly settledAt?: number
  /** Whether the gate has been seen closed since this question was put; showing it again is a new question. */
  readonly gone?: boolean
}

/** Before every time that a clock can show. */
const AT_ONCE = Number.MIN_SAFE_INTEGER

/** The wish to stop a run: requested, then sent, then confirmed by the engine (the task is `cancelled`). */
export interface CancelWish {
  readonly reason: string
  readonly requestedAt: number
  readonly sentAt?: number
  /** How often the wish was sent again since. */
  readonly escalations?: number
  /** When it is sent again if the run goes on, in ms since the epoch; absent where it is not. */
  readonly escalateAt?: number
}

/** When the wish has to be sent, in ms since the epoch: at once, as an escalation, or never. */
export function wishDueAt({ sentAt, escalateAt }: CancelWish): number | undefined {
  return sentAt === undefined ? AT_ONCE : escalateAt
}

/** Which sending of the wish is next: 0 is the wish itself, then its escalations. */
export function nextEscalation({ sentAt, escalations = 0 }: CancelWish): number {
  return sentAt === undefined ? 0 : escalations + 1
}

/**
 * What the store keeps of a task. Plain JSON. All times are ms since the epoch, all durations ms.
 * Tool arguments are not part of it: the engine has them.
 */
export interface TaskRecord {
  readonly owner: Owner
  readonly taskId: string
  /** Raised by every update; the compare-and-set of the store rests on it and on the run key. Starts at 1. */
  readonly version: number
  readonly tool: string
  readonly backend: string
  readonly workflow: string
  readonly form: WireForm
  /** Made for the call, so that no other record that the id may stand for later has it. */
  readonly runKey: string
  readonly inputDigest: string
  /** The starter gives up then; who touches the record well after it may settle the start. */
  readonly startDeadline: number
  /** Whether a client can know the id. A start that came to nothing drops the record only while not. */
  readonly idKnown: boolean
  readonly state: RunState
  readonly run?: RunRef
  /** The run was started elsewhere; this task only watches it, and several may watch one. */
  readonly attached?: true
  readonly createdAt: number
  /** The last change that a client can see. */
  readonly updatedAt: number
  /** When the end was first recorded; retention counts from here. */
  readonly endedAt?: number
  readonly retainMs: number
  readonly cancel?: CancelWish
  readonly inputs: readonly InputRecord[]
  readonly marks?: Marks
  readonly snapshot?: Snapshot
  /** When the last applied snapshot was asked for: an older answer changes nothing but an end. */
  readonly observedAt?: number
  /** The run could not be read since then. Says nothing about the run. */
  readonly unreadable?: { readonly since: number; readonly code: ErrorCode; readonly reason: string }
  /** The engine denies the run since then, without a look in between that saw it. */
  readonly absentSince?: number
  /** Why a task without a run came to its end (`lost`, or `failed` for a refused start). */
  readonly failure?: { readonly code: ErrorCode; readonly message: string }
  /** The engine has been seen executing the run, so that it is never again shown as submitted (SEP-1686, 4.3). */
  readonly begun?: true
  /**
   * The task was ended as `cancelled` for its client at once and for good, while its run may go on (2025-11-25
   * basic/utilities/tasks, "Task Cancellation"). `runEnd`: how the run itself ended, for the log alone.
   */
  readonly sealed?: { readonly runEnd?: TerminalState }
  /** A sentence for the status message, such as that an answer came too late. */
  readonly note?: string
  /** Nobody reads the engine before then: the shared interval, and the lease of whoever reads now. */
  readonly refreshAfter: number
}

export type TaskKey = Pick<TaskRecord, 'owner' | 'taskId'>

/** Whether nothing of its run is left to learn. A sealed task has ended for its client and not yet for us. */
export function isSettled(record: TaskRecord): boolean {
  return isTerminal(record.state) && !isPursued(record)
}

function isPursued({ sealed }: TaskRecord): boolean {
  return sealed !== undefined && sealed.runEnd === undefined
}

/** Whether its start is still to be settled. */
export function isStarting(record: TaskRecord): boolean {
  return record.state === 'starting' || (isPursued(record) && record.run === undefined)
}

/** When the record may be discarded, or undefined while its run may still go on. */
export function expiresAt(record: TaskRecord): number | undefined {
  return record.endedAt === undefined || isPursued(record) ? undefined : record.endedAt + record.retainMs
}

export function isExpired(record: TaskRecord, now: number): boolean {
  return (expiresAt(record) ?? now) < now
}

/** How long after its creation the record may be discarded, in whole ms; null while its run may still go on. */
export function lifetimeMs(record: TaskRecord): number | null {
  const expires = expiresAt(record)
  return expires === undefined ? null : Math.max(1, Math.round(expires - record.createdAt))
}

/** Nobody asked for a running task this long, in ms: the sweeper looks, so that its end is recorded and expires. */
export const IDLE_MS = 3_600_000
/**
 * When that hour is over is rounded up to a multiple of this, in ms: every look moves `refreshAfter`, and a store that bills
 * each change of an index has one to make in ten minutes.
 */
export const IDLE_STEP_MS = 600_000

/**
 * The moment after which a record needs the sweeper, or undefined for one that does not: a start past its
 * deadline, a wish to cancel that is to be sent (again), a run that nobody has followed for `IDLE_MS` or a
 * little more, and that of a sealed task, which nobody follows.
 */
export function dueAfter(record: TaskRecord): number | undefined {
  if (isSettled(record)) return undefined
  const wish = record.cancel && wishDueAt(record.cancel)
  if (wish === AT_ONCE) return wish
  if (isStarting(record)) return record.startDeadline
  const { sealed, refreshAfter } = record
  const idle = sealed ? refreshAfter : Math.ceil((refreshAfter + IDLE_MS) / IDLE_STEP_MS) * IDLE_STEP_MS
  return Math.min(idle, wish ?? Number.POSITIVE_INFINITY)
}
