import {
  byteLength,
  type CallContext,
  canonicalJson,
  type FindContext,
  type FindResult,
  type JsonObject,
  RunbridgeError,
  type StartResult,
} from '@runbridge/core'
import { bound, type Engine, getWorkflow } from './engine.js'
import { EngineFailure } from './engine-failure.js'
import { didNothing, engineError } from './errors.js'
import type { Execution } from './executions-api.js'
import { labelFilter, labelsOf, RUN_KEY_LABEL } from './labels.js'
import { executionName } from './resource-name.js'
import { CALL_LOG_LEVELS, type GoogleWorkflow, HISTORY_LEVELS } from './workflow.js'

/** https://docs.cloud.google.com/workflows/quotas: the argument's size, in bytes of UTF-8. */
export const ARGUMENT_LIMIT_BYTES = 32_768

/** What is sent, or why nothing is. */
function executionOf(
  workflow: GoogleWorkflow,
  runKey: string,
  input: JsonObject,
): Execution | RunbridgeError {
  const argument = canonicalJson(input)
  const bytes = byteLength(argument)
  if (bytes > ARGUMENT_LIMIT_BYTES) {
    const message = `The arguments have ${bytes} bytes as JSON, and Google Workflows takes ${ARGUMENT_LIMIT_BYTES}; pass a reference to larger data.`
    return new RunbridgeError('too_large', message)
  }
  const labels = labelsOf(workflow.labels, runKey)
  if (labels instanceof RunbridgeError) return labels
  const { callLogLevel } = workflow
  return { argument, labels, ...(callLogLevel && { callLogLevel: CALL_LOG_LEVELS[callLogLevel] }) }
}

/**
 * CreateExecution, once. Google takes no request id and no execution id, so a start can't be repeated; the run key is a
 * label, by which the execution of a lost answer is found.
 */
export async function start(
  engine: Engine,
  workflow: GoogleWorkflow,
  runKey: string,
  input: JsonObject,
  context: CallContext,
): Promise<StartResult> {
  const name = bound(workflow)
  if (name instanceof RunbridgeError) return { kind: 'refused', error: name }
  const execution = executionOf(workflow, runKey, input)
  if (execution instanceof RunbridgeError) return { kind: 'refused', error: execution }
  const drift = await otherRevision(engine, workflow, context)
  if (drift) return { kind: 'refused', error: drift }
  const request = { permission: 'workflows.executions.create', resource: workflow.id }
  try {
    const created = await create(engine, workflow, execution, context)
    if (!created.name) {
      const message = `Google answered ${request.permission} on ${workflow.id} without a name. It may have started.`
      return { kind: 'unknown', error: new RunbridgeError('unknown_outcome', message) }
    }
    warnOfRevision(engine, workflow, created)
    return { kind: 'started', run: { id: executionName(workflow.id, created.name), attempt: 0 } }
  } catch (thrown) {
    const error = engineError(thrown, request)
    if (didNothing(thrown)) return { kind: 'refused', error }
    const message = `${error.message} It may have started.`
    return { kind: 'unknown', error: new RunbridgeError('unknown_outcome', message) }
  }
}

/** Google's client silently drops the history level, which its protos do not have; REST knows it. */
async function create(
  { clients }: Engine,
  { id, historyLevel }: GoogleWorkflow,
  execution: Execution,
  { signal }: CallContext,
): Promise<Pick<Execution, 'name' | 'workflowRevisionId'>> {
  if (historyLevel === undefined) return clients.writes.create(id, execution, signal)
  const body = { ...execution, executionHistoryLevel: HISTORY_LEVELS[historyLevel] } as JsonObject
  return clients.rest.send({ api: 'executions', method: 'POST', path: `${id}/executions`, body }, signal)
}

/** Why a tool that is pinned to a revision must not start: an execution runs what is deployed, whatever is asked for. */
async function otherRevision(
  engine: Engine,
  { id, revision }: GoogleWorkflow,
  context: CallContext,
): Promise<RunbridgeError | undefined> {
  if (revision === undefined) return undefined
  try {
    const { revisionId } = await getWorkflow(engine, id, context)
    if (revisionId === revision) return undefined
    const message = `${id} is deployed as revision ${String(revisionId)}, and the tool is pinned to ${revision}. Nothing was started; look at what changed, then pin the tool to the new revision.`
    return new RunbridgeError('conflict', message)
  } catch (thrown) {
    return engineError(thrown, { permission: 'workflows.workflows.get', resource: id })
  }
}

/** A deployment between the look and the start can't be kept out; it can be told. */
function warnOfRevision(
  { warn }: Engine,
  { id, revision }: GoogleWorkflow,
  { workflowRevisionId, name }: Pick<Execution, 'name' | 'workflowRevisionId'>,
): void {
  if (revision === undefined || !workflowRevisionId || workflowRevisionId === revision) return
  warn(`${name} runs revision ${workflowRevisionId} of ${id}: it was deployed while the execution started.`)
}

/** How much earlier than by our clock an execution can have begun by Google's, in ms. */
const CLOCKS_MS = 60_000

/** By label. Labels are compared here too, so that nothing rests on how Google reads the filter. */
export async function find(
  engine: Engine,
  workflow: GoogleWorkflow,
  runKey: string,
  context: FindContext,
): Promise<FindResult> {
  const name = bound(workflow)
  if (name instanceof RunbridgeError) return { kind: 'unreadable', error: name }
  try {
    const listed = await candidates(engine, workflow, runKey, context)
    const runs = listed
      .filter((execution) => execution.labels?.[RUN_KEY_LABEL] === runKey)
      .map((execution) => ({ id: executionName(workflow.id, execution.name ?? ''), attempt: 0 }))
    const [run] = runs
    if (!run) return { kind: 'absent' }
    return runs.length === 1 ? { kind: 'found', run } : { kind: 'ambiguous', runs }
  } catch (thrown) {
    const request = { permission: 'workflows.executions.list', resource: workflow.id }
    return { kind: 'unreadable', error: engineError(thrown, request) }
  }
}

/** The documentation names `label` as a field to filter by and shows no example; should ours be refused, all are read. */
async function candidates(
  { clients, warn }: Engine,
  { id }: GoogleWorkflow,
  runKey: string,
  { signal, since }: FindContext,
): Promise<readonly Execution[]> {
  try {
    return await clients.reads.list(id, labelFilter(RUN_KEY_LABEL, runKey), signal)
  } catch (thrown) {
    if (!(thrown instanceof EngineFailure) || thrown.status !== 'INVALID_ARGUMENT') throw thrown
    warn(`Google does not filter the executions of ${id} by label; the newest are read instead.`)
    return clients.reads.list(id, '', signal, since === undefined ? undefined : since - CLOCKS_MS)
  }
}
