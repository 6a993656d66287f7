import type { AttachResult } from '../backend.js'
import { RunbridgeError, toRunbridgeError } from '../errors.js'
import { digest } from '../ids.js'
import { isTerminal, type RunRef } from '../run.js'
import type { TaskRecord } from '../task.js'
import type { TaskTool } from '../tool.js'
import type { ServiceContext } from './context.js'
import { MAX_INTERVAL_MS } from './interval.js'
import { blankRecord, keep, replay, tell, turnedAway } from './record.js'
import type { AttachRequest, CreateOutcome } from './task-service.js'

/** Looks the run up, then records it: nothing is started, so whatever dies in between leaves nothing to settle. */
export async function attach(context: ServiceContext, request: AttachRequest): Promise<CreateOutcome> {
  const tool = context.tool(request.tool)
  if (!tool?.attach) {
    throw new RunbridgeError('misconfigured', `There is no tool named ${request.tool} that watches runs.`)
  }
  const { owner, taskId, form } = request
  // Sent again, it is answered from the record: the engine may have forgotten the run.
  const present = taskId === undefined ? undefined : await context.store.get({ owner, taskId })
  if (present?.runKey === request.runKey && present?.inputDigest === digest(request.reference)) {
    const replayed = await replay(context, present, form)
    if (replayed) return replayed
  }
  const found = (await followed(context, tool, request)) ?? (await look(context, tool, request))
  if (found.kind === 'refused') return found
  const record = attachedRecord(context, tool, request, found.run)
  const withdrawn = context.admission.announce(record)
  try {
    const answer = (await keep(context, record)) ?? (await turnedAway(context, record))
    if (answer) return answer
  } finally {
    withdrawn()
  }
  await tell(context, record, request.onRecorded)
  context.onStep('handle.leaving')
  return { kind: 'task', task: context.view(context.published(record)), replayed: false }
}

/** A run that another task follows right now needs no look of its own, so that watchers cost the engine nothing. */
async function followed(
  context: ServiceContext,
  tool: TaskTool,
  { owner, reference }: AttachRequest,
): Promise<AttachResult | undefined> {
  const { store, clock } = context
  if (store.lacks?.byRun !== undefined) return undefined
  const since = clock.now() - MAX_INTERVAL_MS
  const followers = await store.byRun({ runId: reference })
  const follower = followers.find(
    (record) =>
      record.backend === tool.backend.name &&
      record.workflow === tool.workflow.id &&
      (!tool.backend.actsAsOwner || record.owner === owner) &&
      !isTerminal(record.state) &&
      (record.observedAt ?? record.createdAt) > since,
  )
  return follower?.run && { kind: 'attached', run: follower.run }
}

async function look(
  context: ServiceContext,
  tool: TaskTool,
  { owner, reference }: AttachRequest,
): Promise<AttachResult> {
  const { backend, workflow } = tool
  if (!backend.attach) {
    const message = `${backend.name} can not watch runs that were started elsewhere.`
    return { kind: 'refused', error: new RunbridgeError('unsupported', message) }
  }
  try {
    const signal = context.within(context.requestTimeoutMs)
    return await backend.attach(workflow, reference, { signal, owner })
  } catch (thrown) {
    return { kind: 'refused', error: toRunbridgeError(thrown) }
  }
}

function attachedRecord(
  context: ServiceContext,
  tool: TaskTool,
  request: AttachRequest,
  run: RunRef,
): TaskRecord {
  const blank = blankRecord(context, tool, request)
  return {
    ...blank,
    inputDigest: digest(request.reference),
    startDeadline: blank.createdAt,
    idKnown: true,
    state: 'running',
    run,
    attached: true,
    refreshAfter: blank.createdAt,
  }
}
