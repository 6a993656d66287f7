import type { GetResult, Unreadable } from '../backend.js'
import { RunbridgeError } from '../errors.js'
import { reduce, type TaskEvent } from '../lifecycle.js'
import type { RunRef } from '../run.js'
import { isSettled, type TaskRecord } from '../task.js'
import type { TaskTool } from '../tool.js'
import { sendWish } from './cancel.js'
import type { ServiceContext } from './context.js'
import { MAX_INTERVAL_MS, pollInterval } from './interval.js'
import { createLooks, type Look, type Looks } from './look.js'
import { createPace, type Pace } from './pace.js'

/** A year and a bit stays out of `lost` for a run whose engine measures its life a little differently. */
const LIFE_ALLOWANCE_MS = 24 * 3_600_000

/**
 * Reads the engine for a task when that is due. However many callers ask, one of them reads: in this process they
 * share the read, also those of other tasks of the run; between replicas the claim in the record decides, by
 * compare-and-set. The claim only saves calls; what is true rests on the record's version. Where the engine's quota
 * has no room for the read the last snapshot is served, and the record says when there is.
 */
export function createRefresh(context: ServiceContext, tools: readonly TaskTool[]) {
  const inFlight = new Map<string, Promise<TaskRecord>>()
  const follower: Follower = {
    context,
    pace: createPace(),
    looks: createLooks(
      context,
      tools.some(({ attach, idempotencyKey }) => attach !== undefined || idempotencyKey !== undefined),
    ),
  }

  return async function refresh(record: TaskRecord): Promise<TaskRecord> {
    if (!record.run || isSettled(record)) return record
    const due = context.clock.now() >= record.refreshAfter
    if (!due && inFlight.size === 0) return record
    const key = JSON.stringify([record.owner, record.taskId])
    const present = inFlight.get(key)
    if (present) return present
    if (!due) return record
    const reading = readDue(follower, record, record.run).finally(() => inFlight.delete(key))
    inFlight.set(key, reading)
    return reading
  }
}

interface Follower {
  readonly context: ServiceContext
  readonly pace: Pace
  readonly looks: Looks
}

async function readDue(follower: Follower, record: TaskRecord, run: RunRef): Promise<TaskRecord> {
  const { context, looks } = follower
  const tool = context.tool(record.tool)
  if (!tool) {
    const retry = unreadable(context, record, noTool(record))
    return (await context.apply(record, retry)) ?? record
  }
  const shared = looks.shared(tool, run, record)
  return shared ? joinLook(follower, tool, record, run, shared) : ownLook(follower, tool, record, run)
}

/** The look is another task's: what it shows is applied here too. */
async function joinLook(
  follower: Follower,
  tool: TaskTool,
  record: TaskRecord,
  run: RunRef,
  look: Look,
): Promise<TaskRecord> {
  const { context } = follower
  if (!look.result) return (await hold(context, record, look.until)).record
  const result = await look.result
  if (!result) return ownLook(follower, tool, record, run)
  const events = eventsOf(context, tool, record, run, look, result)
  return (await context.apply(record, claim(look.until), ...events)) ?? record
}

async function ownLook(
  { context, pace, looks }: Follower,
  tool: TaskTool,
  record: TaskRecord,
  run: RunRef,
): Promise<TaskRecord> {
  const now = context.clock.now()
  const quota = tool.backend.readQuota?.(tool.workflow)
  const admitted = !quota || pace.admit(quota, now)
  const from = admitted ? now + pollInterval(record, now) : now + 1
  const until = quota ? pace.plan(quota, from, now) : from
  const holding = hold(context, record, until)
  if (!admitted) {
    looks.share(tool, run, record, { observedAt: now, until })
    return (await holding).record
  }
  const result = holding.then(
    (held) => (held.ours ? looks.send(tool, run, held.record) : undefined),
    // The store's failure is told to this caller; the others look for themselves.
    () => undefined,
  )
  const look: Look = { observedAt: now, until, result }
  looks.share(tool, run, record, look)
  const held = await holding
  const seen = await result
  if (!seen) return held.record
  if (quota && seen.kind === 'unreadable' && seen.error.code === 'throttled') pace.throttled(quota, now)
  return (
    (await context.apply(held.record, ...eventsOf(context, tool, held.record, run, look, seen))) ??
    held.record
  )
}

function claim(until: number): TaskEvent {
  return { type: 'claimed', until }
}

/** Claims the record until then, and sends a wish that is due: it never waits for a look. */
async function hold(
  context: ServiceContext,
  record: TaskRecord,
  until: number,
): Promise<{ readonly ours: boolean; readonly record: TaskRecord }> {
  const { store, clock } = context
  const claimed = reduce(record, claim(until), clock.now())
  if ((await store.update(claimed)) !== 'updated') {
    return { ours: false, record: (await store.get(record)) ?? record }
  }
  return { ours: true, record: await sendWish(context, { ...claimed, version: claimed.version + 1 }) }
}

function eventsOf(
  context: ServiceContext,
  tool: TaskTool,
  record: TaskRecord,
  run: RunRef,
  { observedAt }: Look,
  result: GetResult,
): TaskEvent[] {
  switch (result.kind) {
    case 'snapshot': {
      const { snapshot, marks } = result
      return [{ type: 'snapshot', run, snapshot, observedAt, ...(marks && { marks }) }]
    }
    case 'absent': {
      const graceMs = tool.backend.visibilityMs + context.clockAllowanceMs
      return [{ type: 'absent', run, observedAt, graceMs }]
    }
    case 'unreadable': {
      const { code, message } = result.error
      context.log.warn(
        { taskId: record.taskId, run: run.id, code, reason: message },
        'a run could not be read',
      )
      return [unreadable(context, record, result, tool.backend.maxRunMs)]
    }
    default:
      return result satisfies never
  }
}

function noTool({ tool }: TaskRecord): Unreadable {
  const message = `no tool named ${tool} is configured any more`
  return { kind: 'unreadable', error: new RunbridgeError('misconfigured', message) }
}

/**
 * An unreadable run is looked at half as often: an outage or a quota is not helped by more calls. The engine may
 * want it left alone for longer.
 */
function unreadable(
  context: ServiceContext,
  record: TaskRecord,
  { error, retryAfterMs = 0 }: Unreadable,
  maxRunMs?: number,
): TaskEvent {
  const now = context.clock.now()
  const retryAt = now + Math.max(retryAfterMs, Math.min(MAX_INTERVAL_MS, 2 * pollInterval(record, now)))
  const { code, message: reason } = error
  const life = maxRunMs === undefined ? {} : { maxRunMs: maxRunMs + LIFE_ALLOWANCE_MS }
  return { type: 'unreadable', code, reason, retryAt, ...life }
}
