import {
  type GetContext,
  type GetResult,
  isTerminal,
  type Marks,
  quoted,
  RunbridgeError,
  type RunRef,
  type Snapshot,
} from '@runbridge/core'
import { listCallbacks } from './callbacks.js'
import { bound, deniedRun, type Engine, unreadable } from './engine.js'
import { engineError, isNotFound } from './errors.js'
import type { Execution } from './executions-api.js'
import { countWaits, gateOf, parseMarks, waitsOf } from './gates.js'
import { progressOf, queuedProgress } from './progress.js'
import { parseExecutionName } from './resource-name.js'
import { snapshotOf } from './snapshot.js'
import { stateOf } from './states.js'
import { type StepEntry, stepEntries } from './step-entries.js'
import type { GoogleWorkflow } from './workflow.js'

interface Reading {
  readonly engine: Engine
  readonly workflow: GoogleWorkflow
  readonly run: RunRef
  readonly context: GetContext
}

/** One look at a run: GetExecution; callbacks and step entries only for what needs them. */
export async function read(
  engine: Engine,
  workflow: GoogleWorkflow,
  run: RunRef,
  context: GetContext,
): Promise<GetResult> {
  const name = bound(workflow)
  if (name instanceof RunbridgeError) return { kind: 'unreadable', error: name }
  if (!parseExecutionName(run.id)) return unreadable('misconfigured', `${run.id} is not an execution.`)
  let execution: Execution
  try {
    execution = await engine.clients.reads.get(run.id, context.signal)
  } catch (thrown) {
    if (isNotFound(thrown)) return deniedRun(engine, workflow, context)
    const request = { permission: 'workflows.executions.get', resource: run.id }
    return { kind: 'unreadable', error: engineError(thrown, request) }
  }
  const state = stateOf(execution.state, engine.warn)
  if (state === 'unreadable') return unreadable('unavailable', unavailable(execution, run))
  if (isTerminal(state)) {
    return { kind: 'snapshot', snapshot: snapshotOf(execution, { workflow: workflow.id, state }) }
  }
  const progress = state === 'queued' ? queuedProgress(name.location) : progressOf(execution)
  const live: Snapshot = {
    ...snapshotOf(execution, { workflow: workflow.id, state }),
    ...(context.progress && progress && { progress }),
  }
  if (execution.state !== 'ACTIVE') return { kind: 'snapshot', snapshot: unusual(live, context) }
  return readActive({ engine, workflow, run, context }, execution, live)
}

function unavailable({ stateError }: Execution, run: RunRef): string {
  const { details = '', type = '' } = stateError ?? {}
  const why = [type === 'TYPE_UNSPECIFIED' ? '' : type, details ? quoted(details) : '']
    .filter(Boolean)
    .join(': ')
  return `Google can not read the data of ${run.id}${why === '' ? '' : ` (${why})`}.`
}

/** QUEUED, and what we have never seen: it goes on, and the raw word is the message. */
function unusual(live: Snapshot, { progress }: GetContext): Snapshot {
  if (live.state === 'queued' || !progress) return live
  return { ...live, progress: { message: `state ${live.nativeState || 'unknown'}` } }
}

async function readActive(reading: Reading, execution: Execution, live: Snapshot): Promise<GetResult> {
  const { engine, workflow, run, context } = reading
  const gated = context.gates && Object.keys(workflow.gates ?? {}).length > 0
  if (!gated) {
    const entries = context.progress ? await softEntries(reading) : []
    const progress = context.progress ? progressOf(execution, entries) : undefined
    return { kind: 'snapshot', snapshot: { ...live, ...(progress && { progress }) } }
  }
  let permission = 'workflows.callbacks.list'
  try {
    const callbacks = await listCallbacks(engine.clients.rest, run, context.signal)
    const counted = countWaits(parseMarks(context.marks), callbacks)
    permission = 'workflows.stepEntries.list'
    const entries = await gateEntries(reading)
    const waits = waitsOf({ workflow, execution, callbacks, entries }, engine.warn)
    const gates = waits.map((wait) => gateOf(wait, counted, entries))
    const asked = gates.map((gate) => gate.prompt).join(' / ')
    const progress = gates.length > 0 ? { message: asked } : progressOf(execution, entries)
    const snapshot: Snapshot = {
      ...live,
      state: gates.length > 0 ? 'waiting' : 'running',
      gates,
      ...(context.progress && progress && { progress }),
    }
    return { kind: 'snapshot', snapshot, marks: { ...counted } as Marks }
  } catch (thrown) {
    return { kind: 'unreadable', error: engineError(thrown, { permission, resource: run.id }) }
  }
}

async function gateEntries({ engine, workflow, run, context }: Reading): Promise<StepEntry[]> {
  if (workflow.historyLevel === undefined) return []
  return stepEntries(engine.clients.rest, run, true, context.signal)
}

/** What only adds to a snapshot must not keep it back: when it can't be read it is left out. */
async function softEntries({ engine, workflow, run, context }: Reading): Promise<StepEntry[]> {
  if (workflow.historyLevel === undefined) return []
  try {
    return await stepEntries(engine.clients.rest, run, false, context.signal)
  } catch (thrown) {
    const request = { permission: 'workflows.stepEntries.list', resource: run.id }
    engine.warn(engineError(thrown, request).message)
    return []
  }
}
