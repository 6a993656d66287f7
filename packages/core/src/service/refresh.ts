import type { GetResult, Unreadable } from '../backend.js'
import { RunbridgeError, toRunbridgeError } from '../errors.js'
import { reduce, type TaskEvent } from '../lifecycle.js'
import type { RunRef } from '../run.js'
import { isSettled, type TaskRecord } from '../task.js'
import type { TaskTool } from '../tool.js'
import { sendWish } from './cancel.js'
import type { ServiceContext } from './context.js'
import { MAX_INTERVAL_MS, pollInterval } from './interval.js'

/** A year and a bit stays out of `lost` for a run whose engine measures its life a little differently. */
const LIFE_ALLOWANCE_MS = 24 * 3_600_000

/**
 * Reads the engine for a task when that is due. However many callers ask, one of them reads: in this process
 * they share the read in flight; between replicas the claim in the record decides, by compare-and-set. The
 * claim only saves calls; what is true rests on the record's version.
 */
export function createRefresh(context: ServiceContext) {
  const inFlight = new Map<string, Promise<TaskRecord>>()

  return async function refresh(record: TaskRecord): Promise<TaskRecord> {
    if (!record.run || isSettled(record)) return record
    const key = JSON.stringify([record.owner, record.taskId])
    const present = inFlight.get(key)
    if (present) return present
    if (context.clock.now() < record.refreshAfter) return record
    const reading = claimAndRead(context, record, record.run).finally(() => inFlight.delete(key))
    inFlight.set(key, reading)
    return reading
  }
}

async function claimAndRead(context: ServiceContext, record: TaskRecord, run: RunRef): Promise<TaskRecord> {
  const { store, clock } = context
  const now = clock.now()
  const until = now + pollInterval(record, now)
  const claimed = reduce(record, { type: 'claimed', until }, now)
  if ((await store.update(claimed)) !== 'updated') return (await store.get(record)) ?? record
  const held = await sendWish(context, { ...claimed, version: claimed.version + 1 })
  const tool = context.tool(held.tool)
  const events = tool ? await read(context, tool, held, run) : [unreadable(context, held, noTool(held))]
  return (await context.apply(held, ...events)) ?? held
}

async function read(
  context: ServiceContext,
  tool: TaskTool,
  record: TaskRecord,
  run: RunRef,
): Promise<TaskEvent[]> {
  const observedAt = context.clock.now()
  let result: GetResult
  try {
    result = await tool.backend.get(tool.workflow, run, {
      signal: context.within(context.requestTimeoutMs),
      gates: tool.humanInput !== 'off',
      progress: tool.progress,
      ...(record.marks && { marks: record.marks }),
    })
  } catch (thrown) {
    result = { kind: 'unreadable', error: toRunbridgeError(thrown) }
  }
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
