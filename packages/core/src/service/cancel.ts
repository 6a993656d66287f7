import type { CancelResult } from '../backend.js'
import { RunbridgeError, toRunbridgeError } from '../errors.js'
import { isSettled, nextEscalation, type TaskRecord, wishDueAt } from '../task.js'
import { type Unstoppable, unstoppable } from '../tool.js'
import type { ServiceContext } from './context.js'

/** Sends a wish to cancel that is recorded and due: still unsent, or to be sent again. Whether the run stops is for the engine to say. */
export async function sendWish(context: ServiceContext, record: TaskRecord): Promise<TaskRecord> {
  const { owner, run, cancel } = record
  const tool = context.tool(record.tool)
  if (!run || !tool || !cancel || isSettled(record)) return record
  const dueAt = wishDueAt(cancel)
  if (dueAt === undefined || context.clock.now() < dueAt) return record
  const escalation = nextEscalation(cancel)
  context.onStep('wish.sending')
  let result: CancelResult
  try {
    const signal = context.within(context.requestTimeoutMs)
    result = await tool.backend.cancel(tool.workflow, run, cancel.reason, { signal, owner, escalation })
  } catch (thrown) {
    result = { kind: 'failed', error: toRunbridgeError(thrown) }
  }
  context.onStep('wish.sent')
  if (result.kind === 'failed') {
    context.log.warn({ taskId: record.taskId, err: result.error }, 'a wish to cancel could not be sent yet')
    return record
  }
  const { escalateAfterMs } = result.kind === 'sent' ? result : {}
  const sent = {
    type: 'cancel_sent',
    escalation,
    ...(escalateAfterMs !== undefined && { escalateAfterMs }),
  } as const
  return (await context.apply(record, sent)) ?? record
}

/** Records the wish first, so that it outlives this process, then sends it. */
export async function cancel(
  context: ServiceContext,
  record: TaskRecord,
  reason: string,
): Promise<TaskRecord> {
  const why = unstoppable(context.tool(record.tool), record)
  if (why) return (await context.apply(record, { type: 'noted', note: NOTES[why] })) ?? record
  const wished = await context.apply(record, { type: 'cancel_requested', reason: reason.slice(0, 256) })
  const sent = wished ? await sendWish(context, wished) : record
  if (context.store.idOf && !isSettled(sent) && sent.cancel?.sentAt === undefined) {
    throw new RunbridgeError(
      'unavailable',
      'The wish to cancel could not be sent to the engine, and it is kept nowhere: cancel again.',
    )
  }
  return sent
}

/** Why the wish comes to nothing, as a sentence for its caller. */
const NOTES: Readonly<Record<Unstoppable, string>> = {
  watched:
    'This task only watches the run, which was started elsewhere, and may not stop it; the wish to cancel changes nothing.',
  unsupported: 'This workflow can not be stopped once it runs; the wish to cancel changes nothing.',
}

/**
 * Cancels the task for its caller at once and for good, then sends the wish. The run is followed to its end,
 * which goes to the log alone. `conflict` when the task has ended already.
 */
export async function seal(context: ServiceContext, record: TaskRecord, reason: string): Promise<TaskRecord> {
  const sealing = unstoppable(context.tool(record.tool), record) ? {} : { reason: reason.slice(0, 256) }
  const before = record.version
  const sealed = await context.apply(record, { type: 'sealed', ...sealing })
  if (!sealed) throw new RunbridgeError('task_not_found', 'Task not found')
  if (sealed.sealed === undefined || sealed.version === before) {
    throw new RunbridgeError('conflict', 'Cannot cancel task: it has ended already.')
  }
  return sendWish(context, sealed)
}
