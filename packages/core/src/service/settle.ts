import type { FindResult } from '../backend.js'
import { toRunbridgeError } from '../errors.js'
import { isStarting, type TaskRecord } from '../task.js'
import type { TaskTool } from '../tool.js'
import { sendWish } from './cancel.js'
import type { ServiceContext } from './context.js'
import { pollInterval } from './interval.js'

/** Looks for the run under the record's key. What is thrown says nothing about the run. */
export async function find(context: ServiceContext, tool: TaskTool, record: TaskRecord): Promise<FindResult> {
  context.onStep('find.sending')
  try {
    const signal = context.within(context.requestTimeoutMs)
    const since = record.createdAt - context.clockAllowanceMs
    return await tool.backend.find(tool.workflow, record.runKey, { signal, owner: record.owner, since })
  } catch (thrown) {
    return { kind: 'unreadable', error: toRunbridgeError(thrown) }
  } finally {
    context.onStep('find.answered')
  }
}

/** For a start that nothing shows, or more than one run. What follows for the caller is for `lostText` to say. */
export function notSettled(found: FindResult & { kind: 'absent' | 'ambiguous' }) {
  const hint = found.kind === 'absent' && found.hint !== undefined ? ` ${found.hint}` : ''
  const message =
    found.kind === 'absent'
      ? `The answer of the start was lost and the engine shows no run of it.${hint}`
      : `The answer of the start was lost and ${found.runs.length} runs carry its key (${found.runs.map((run) => run.id).join(', ')}).`
  return { type: 'start_unsettled', message } as const
}

/**
 * Brings a start whose starter is gone to the truth: found, it is adopted; absent, the record goes if no
 * client can know the id, else the task is lost. Does nothing before the starter's deadline, the clocks'
 * difference and the engine's own delay are over. Undefined when the record went.
 */
export async function settle(context: ServiceContext, record: TaskRecord): Promise<TaskRecord | undefined> {
  const { clock, store, clockAllowanceMs, log } = context
  const tool = context.tool(record.tool)
  if (!isStarting(record) || !tool) return record
  const settleAfter = record.startDeadline + clockAllowanceMs + tool.backend.visibilityMs
  if (clock.now() < Math.max(settleAfter, record.refreshAfter)) return record
  const found = await find(context, tool, record)
  switch (found.kind) {
    case 'found': {
      const adopted = await context.apply(record, { type: 'started', run: found.run })
      return adopted && sendWish(context, adopted)
    }
    case 'absent':
      if (record.idKnown) return context.apply(record, notSettled(found))
      log.info(
        { taskId: record.taskId, tool: record.tool },
        'a start that never reached the engine was dropped',
      )
      if (await store.delete(record, record)) return undefined
      return store.get(record)
    case 'ambiguous':
      return context.apply(record, notSettled(found))
    case 'unreadable': {
      const { code, message } = found.error
      const retryAt = clock.now() + Math.max(found.retryAfterMs ?? 0, pollInterval(record, clock.now()))
      return context.apply(record, { type: 'unreadable', code, reason: message, retryAt })
    }
    default:
      return found satisfies never
  }
}
