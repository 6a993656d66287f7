import type { AttachResult } from '../backend.js'
import { RunbridgeError, toRunbridgeError } from '../errors.js'
import { digest } from '../ids.js'
import type { RunRef } from '../run.js'
import type { TaskRecord } from '../task.js'
import type { TaskTool } from '../tool.js'
import type { ServiceContext } from './context.js'
import { blankRecord, keep, replay } from './record.js'
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
  const found = await look(context, tool, request.reference)
  if (found.kind === 'refused') return found
  const record = attachedRecord(context, tool, request, found.run)
  const replayed = await keep(context, record)
  if (replayed) return replayed
  await request.onRecorded?.()
  context.onStep('handle.leaving')
  return { kind: 'task', task: context.view(context.published(record)), replayed: false }
}

async function look(context: ServiceContext, tool: TaskTool, reference: string): Promise<AttachResult> {
  const { backend, workflow } = tool
  if (!backend.attach) {
    const message = `${backend.name} can not watch runs that were started elsewhere.`
    return { kind: 'refused', error: new RunbridgeError('unsupported', message) }
  }
  try {
    return await backend.attach(workflow, reference, { signal: context.within(context.requestTimeoutMs) })
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
