import { RunbridgeError } from '../errors.js'
import type { TaskKey, TaskRecord, WireForm } from '../task.js'
import type { TaskTool } from '../tool.js'
import type { ServiceContext } from './context.js'
import { MIN_INTERVAL_MS } from './interval.js'
import type { CreateOutcome, CreateRequest } from './task-service.js'

/** The forms whose ids are made by clients, or whose tasks end before their runs: a record has to be kept for them. */
const OLDER_FORMS: ReadonlySet<WireForm> = new Set(['core-2025-11-25', 'sep-1686'])

/** What every new record has, however its run comes about. */
export function blankRecord(
  context: ServiceContext,
  tool: TaskTool,
  request: Omit<CreateRequest, 'input' | 'idKnown'>,
): Omit<TaskRecord, 'inputDigest' | 'startDeadline' | 'idKnown' | 'state'> {
  const reason = context.store.lacks?.update
  if (reason !== undefined && OLDER_FORMS.has(request.form)) {
    throw new RunbridgeError('unsupported', `Tasks of ${request.form} can not be kept here: ${reason}.`)
  }
  const now = context.clock.now()
  return {
    owner: request.owner,
    taskId: request.taskId ?? context.ids.taskId(),
    version: 1,
    tool: tool.name,
    backend: tool.backend.name,
    workflow: tool.workflow.id,
    form: request.form,
    runKey: request.runKey ?? context.ids.runKey(),
    createdAt: now,
    updatedAt: now,
    retainMs: Math.min(request.retainMs ?? tool.retainMs, tool.retainMs),
    inputs: [],
    refreshAfter: now + MIN_INTERVAL_MS,
  }
}

/**
 * Keeps a new record. Undefined once it is kept; else its id is taken, and the answer is that of the call that was
 * sent before.
 */
export async function keep(context: ServiceContext, record: TaskRecord): Promise<CreateOutcome | undefined> {
  const { store, onStep } = context
  for (;;) {
    onStep('record.creating')
    const outcome = await store.create(record)
    onStep('record.created')
    if (outcome === 'created') return undefined
    const existing = await store.get(record)
    if (existing && (existing.runKey !== record.runKey || existing.inputDigest !== record.inputDigest)) {
      const error = new RunbridgeError('conflict', `Task ID already exists: ${record.taskId}`)
      return { kind: 'refused', error }
    }
    const replayed = existing && (await replay(context, existing, record.form))
    if (replayed) return replayed
  }
}

/**
 * Answers with a task that somebody else's call began, once its starter has settled it. Undefined when its record
 * goes meanwhile, so that nothing runs under it.
 * @param form the caller's: a plain task becomes one of it
 */
export async function replay(
  context: ServiceContext,
  key: TaskKey,
  form: WireForm,
): Promise<CreateOutcome | undefined> {
  const { store, clock } = context
  // Its starter was at it before: by then its time is over, however far its clock is ahead of ours.
  const patience = clock.now() + context.startTimeoutMs
  for (;;) {
    const existing = await store.get(key)
    if (!existing) return undefined
    if (existing.state !== 'starting' || clock.now() >= Math.min(existing.startDeadline, patience)) {
      const task = await context.apply(existing, { type: 'id_published', form })
      if (task) return { kind: 'task', task: context.view(task), replayed: true }
    }
    await clock.sleep(context.settlePauseMs)
  }
}

/**
 * The refusal of a record that would be one open task too many; it goes then, since nothing was sent for it. Only asked
 * for what is new: whoever finds a task that is there already gets it, however many are open.
 */
export async function turnedAway(
  context: ServiceContext,
  record: TaskRecord,
): Promise<CreateOutcome | undefined> {
  try {
    const error = await context.admission.admit(record)
    if (!error) return undefined
    await forget(context, record)
    return { kind: 'refused', error }
  } catch (thrown) {
    await forget(context, record).catch(() => undefined)
    throw thrown
  }
}

/** Removes a record that nothing was sent for: in any version, and no other that may have its id by now. */
export function forget({ store }: ServiceContext, record: TaskRecord): Promise<boolean> {
  return store.delete(record, { runKey: record.runKey })
}

/** Lets the caller know that its record is there. Where that fails the record goes again, since nothing was sent for it. */
export async function tell(
  context: ServiceContext,
  record: TaskRecord,
  onRecorded: CreateRequest['onRecorded'],
): Promise<void> {
  try {
    await onRecorded?.()
  } catch (thrown) {
    await forget(context, record).catch(() => undefined)
    throw thrown
  }
}
