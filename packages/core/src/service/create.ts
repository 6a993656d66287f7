import type { StartResult } from '../backend.js'
import { RunbridgeError, toRunbridgeError } from '../errors.js'
import { digest } from '../ids.js'
import type { JsonObject } from '../json.js'
import type { RunRef } from '../run.js'
import type { TaskRecord } from '../task.js'
import type { TaskTool } from '../tool.js'
import { sendWish } from './cancel.js'
import type { ServiceContext } from './context.js'
import { claimNames, join, namesOf, needsOwnTask } from './idempotency.js'
import { blankRecord, forget, keep, replay, tell, turnedAway } from './record.js'
import { find, notSettled, settle } from './settle.js'
import type { CreateOutcome, CreateRequest } from './task-service.js'

/**
 * Records, starts, sets the reference: in this order, so that whatever dies in between leaves either nothing
 * or a record that `settle` can bring to the truth. Only this function ever starts a run.
 */
export async function create(context: ServiceContext, request: CreateRequest): Promise<CreateOutcome> {
  const tool = context.tool(request.tool)
  if (!tool) throw new RunbridgeError('misconfigured', `There is no tool named ${request.tool}.`)
  const record = newRecord(context, tool, request)
  const names = namesOf(tool, request)
  const withdrawn = context.admission.announce(record)
  try {
    for (;;) {
      const replayed = await keep(context, record)
      if (replayed) return replayed
      const claim = names && (await claimNames(context, record, names))
      if (!names || claim?.kind === 'ours') {
        return (await turnedAway(context, record)) ?? (await start(context, tool, record, request))
      }
      if (claim?.kind !== 'theirs') return { kind: 'refused', error: overdue() }
      const theirs = needsOwnTask(record, claim.holder)
        ? await ownTask(context, record, request, claim.holder)
        : await join(context, record, names, claim.holder)
      if (theirs) return theirs
    }
  } finally {
    withdrawn()
  }
}

/** A task of the caller's own, of the run that the holder's call started. Undefined when that came to nothing. */
async function ownTask(
  context: ServiceContext,
  record: TaskRecord,
  { onRecorded }: CreateRequest,
  holder: TaskRecord,
): Promise<CreateOutcome | undefined> {
  const theirs = await replay(context, holder, 'plain')
  const { run, state } = (theirs?.kind === 'task' && theirs.task.record) || {}
  if (run) {
    const refused = await turnedAway(context, record)
    if (refused) return refused
    await tell(context, record, onRecorded)
    return adopt(context, record, run)
  }
  // Nothing was sent for this record, so nobody has to look for what became of it.
  await forget(context, record)
  return state === 'starting' ? { kind: 'refused', error: stillStarting(holder) } : undefined
}

function stillStarting({ taskId }: TaskRecord): RunbridgeError {
  const message = `An equal call of yours, task ${taskId}, may have started and is not settled yet. Nothing was started; call again in a minute.`
  return new RunbridgeError('unavailable', message)
}

function newRecord(context: ServiceContext, tool: TaskTool, request: CreateRequest): TaskRecord {
  return {
    ...blankRecord(context, tool, request),
    inputDigest: digest(request.input),
    startDeadline: context.clock.now() + context.startTimeoutMs,
    // Where the id is the record, it is known only after the start.
    idKnown: (request.idKnown ?? false) && !context.store.idOf,
    state: 'starting',
  }
}

async function start(
  context: ServiceContext,
  tool: TaskTool,
  record: TaskRecord,
  { input, onRecorded }: CreateRequest,
): Promise<CreateOutcome> {
  await tell(context, record, onRecorded)
  const first = await attempt(context, tool, record, input)
  if (first.kind === 'started') return adopt(context, record, first.run)
  if (first.kind === 'refused') return withdraw(context, record, first.error)
  context.log.warn(
    { taskId: record.taskId, tool: tool.name, err: first.error },
    'the answer of a start was lost',
  )
  return pursue(context, tool, record, input)
}

/** One attempt, ended at the starter's deadline. What is thrown says nothing, so it is unknown. */
async function attempt(
  context: ServiceContext,
  tool: TaskTool,
  record: TaskRecord,
  input: JsonObject,
): Promise<StartResult> {
  const { clock, onStep } = context
  const left = record.startDeadline - clock.now()
  if (left <= 0) {
    return { kind: 'refused', error: overdue() }
  }
  onStep('start.sending')
  const signal = context.within(Math.min(left, context.attemptTimeoutMs))
  try {
    return await tool.backend.start(tool.workflow, record.runKey, input, { signal, owner: record.owner })
  } catch (cause) {
    const error = new RunbridgeError('unknown_outcome', 'The start was sent and its answer was lost.', {
      cause,
    })
    return { kind: 'unknown', error }
  } finally {
    onStep('start.answered')
  }
}

function overdue(): RunbridgeError {
  return new RunbridgeError('unavailable', 'The start was not sent before its deadline; call again.')
}

/**
 * An attempt may have started the run. Looks for it, and repeats the start where the engine makes that
 * harmless, until the deadline; a refusal after an unknown attempt says nothing about that attempt.
 */
async function pursue(
  context: ServiceContext,
  tool: TaskTool,
  record: TaskRecord,
  input: JsonObject,
): Promise<CreateOutcome> {
  const { clock } = context
  let visibleAt = clock.now() + tool.backend.visibilityMs
  for (;;) {
    const askedAt = clock.now()
    const found = await find(context, tool, record)
    if (found.kind === 'found') return adopt(context, record, found.run)
    if (found.kind === 'ambiguous') return handOut(context, record, notSettled(found))
    const over = clock.now() >= record.startDeadline
    if (!over && tool.capabilities.start === 'idempotent') {
      const again = await attempt(context, tool, record, input)
      if (again.kind === 'started') return adopt(context, record, again.run)
      if (again.kind === 'unknown') visibleAt = clock.now() + tool.backend.visibilityMs
    } else if (found.kind === 'absent' && askedAt >= visibleAt) {
      return handOut(context, record, notSettled(found))
    }
    if (over) return handOut(context, record)
    await clock.sleep(context.settlePauseMs)
  }
}

/** The run is known: set the reference, then let the handle leave. */
async function adopt(context: ServiceContext, record: TaskRecord, run: RunRef): Promise<CreateOutcome> {
  const { onStep, log } = context
  onStep('reference.setting')
  let adopted = await recorded(context, record, run)
  onStep('reference.set')
  if (adopted.run?.id !== run.id) {
    log.error(
      { taskId: record.taskId, run: run.id, state: adopted.state },
      'a run goes on without its task: it was found only after the task had ended',
    )
  }
  adopted = await sendWish(context, context.published(adopted))
  onStep('handle.leaving')
  return { kind: 'task', task: context.view(adopted), replayed: false }
}

/** Throws `unknown_outcome` when the store can't be told: the caller must not take that for a start that failed. */
async function recorded(context: ServiceContext, record: TaskRecord, run: RunRef): Promise<TaskRecord> {
  try {
    return await keepAdopted(context, record, run)
  } catch (cause) {
    context.log.error(
      { taskId: record.taskId, run: run.id, err: cause },
      'a run started and could not be recorded',
    )
    if (toRunbridgeError(cause).code === 'unknown_outcome') throw cause
    const message = `The run started, but the task store could not be told of it. Do not start it again: once the store can be reached, the run is looked for as task ${record.taskId}.`
    throw new RunbridgeError('unknown_outcome', message, { cause })
  }
}

/** Its starter was away for so long that its task was settled, removed, and its id used for another. */
function idTaken({ taskId, runKey }: TaskRecord, run: RunRef): RunbridgeError {
  const message = `The run ${run.id} started, but its task ${taskId} was removed meanwhile and the id used again, for another run. Do not start it again: look for it in the engine. Its run key is ${runKey}.`
  return new RunbridgeError('unknown_outcome', message)
}

async function keepAdopted(context: ServiceContext, record: TaskRecord, run: RunRef): Promise<TaskRecord> {
  const { store, log } = context
  let adopted = await context.apply(record, { type: 'started', run })
  while (!adopted) {
    // Somebody settled the record as not started, too early for this starter: the run is there after all.
    log.warn(
      { taskId: record.taskId, run: run.id },
      'a start outlived its deadline; its record is kept again',
    )
    const again: TaskRecord = { ...record, state: 'running', idKnown: true, run }
    if ((await store.create(again)) === 'created') return again
    const present = await store.get(record)
    if (present && present.runKey !== record.runKey) throw idTaken(record, run)
    adopted = await context.apply(again, { type: 'started', run })
  }
  return adopted
}

/** Nothing runs: the record goes, unless a client knows its id, by this call or by an equal one that was given it. */
async function withdraw(
  context: ServiceContext,
  record: TaskRecord,
  error: RunbridgeError,
): Promise<CreateOutcome> {
  const gone = !record.idKnown && (await context.store.delete(record, record))
  if (gone) return { kind: 'refused', error }
  const refused = { type: 'start_refused', code: error.code, message: error.message } as const
  const failed = await context.apply(record, refused)
  return failed ? { kind: 'task', task: context.view(failed), replayed: false } : { kind: 'refused', error }
}

/** The start could not be settled by its starter: the id leaves with what is known. */
async function handOut(
  context: ServiceContext,
  record: TaskRecord,
  lost?: { readonly type: 'start_unsettled'; readonly message: string },
): Promise<CreateOutcome> {
  const kept = await context.apply(record, { type: 'id_published' }, ...(lost ? [lost] : []))
  if (kept) {
    context.onStep('handle.leaving')
    const left = context.published(kept)
    return { kind: 'task', task: context.view((await settle(context, left)) ?? left), replayed: false }
  }
  const message =
    'The start could not be settled; it may have started. Look at the engine before you repeat it.'
  return { kind: 'refused', error: new RunbridgeError('unknown_outcome', message) }
}
