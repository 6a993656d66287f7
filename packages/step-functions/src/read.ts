import { DescribeExecutionCommand, type DescribeExecutionCommandOutput } from '@aws-sdk/client-sfn'
import {
  type GetContext,
  type GetResult,
  isTerminal,
  type Marks,
  RunbridgeError,
  type RunRef,
  type Snapshot,
} from '@runbridge/core'
import { type Place, parseExecutionArn } from './arn.js'
import { endOfAttempt } from './attempts.js'
import { bound, denied, type Engine } from './engine.js'
import { engineError, errorName } from './errors.js'
import { followTasks, needsParameters, openGates, parseMarks } from './gates.js'
import { byId, type Event, type HistoryRead, isEnd, newestFirst, stateBefore } from './history.js'
import { progressOf } from './progress.js'
import { snapshotOf } from './snapshot.js'
import { stateOf } from './states.js'
import type { StepFunctionsWorkflow } from './workflow.js'

/** Events a call. Progress needs only the newest; with data each can have 256 KB. */
const PAGE = { progress: 200, gates: 1000, data: 100 }

interface Reading {
  readonly engine: Engine
  readonly workflow: StepFunctionsWorkflow
  readonly run: RunRef
  readonly place: Place
  readonly context: GetContext
}

/** One look at a run: DescribeExecution, and the history only for what needs it. */
export async function read(
  engine: Engine,
  workflow: StepFunctionsWorkflow,
  run: RunRef,
  context: GetContext,
): Promise<GetResult> {
  const machine = bound(engine, workflow)
  if (machine instanceof RunbridgeError) return { kind: 'unreadable', error: machine }
  const place = parseExecutionArn(run.id)
  if (!place || place.region !== machine.region) {
    return unreadable('misconfigured', `${run.id} is not an execution in ${machine.region}.`)
  }
  const reading: Reading = { engine, workflow, run, place, context }
  let execution: DescribeExecutionCommandOutput
  try {
    const command = new DescribeExecutionCommand({ executionArn: run.id })
    execution = await engine.clients.reads.send(command, { abortSignal: context.signal })
  } catch (thrown) {
    if (errorName(thrown) === 'ExecutionDoesNotExist') return denied(engine, machine, context)
    const request = { action: 'states:DescribeExecution', resource: run.id }
    return { kind: 'unreadable', error: engineError(thrown, request) }
  }
  try {
    return await readAttempt(reading, execution)
  } catch (thrown) {
    const request = { action: 'states:GetExecutionHistory', resource: run.id }
    return { kind: 'unreadable', error: engineError(thrown, request) }
  }
}

async function readAttempt(reading: Reading, execution: DescribeExecutionCommandOutput): Promise<GetResult> {
  const { engine, run, place, context } = reading
  const redrives = execution.redriveCount ?? 0
  if (redrives < run.attempt) {
    return unreadable('unavailable', `AWS does not show attempt ${run.attempt} of ${run.id} yet.`)
  }
  if (redrives > run.attempt) {
    const history = historyRead(reading, false, PAGE.gates)
    const snapshot = await endOfAttempt(history, run.attempt, place, execution.startDate)
    if (snapshot) return { kind: 'snapshot', snapshot }
    return unreadable(
      'unavailable',
      `The history of ${run.id} does not show how attempt ${run.attempt} ended.`,
    )
  }
  const state = stateOf(execution.status, engine.warn)
  if (!isTerminal(state)) {
    return execution.status === 'RUNNING'
      ? readRunning(reading, execution)
      : { kind: 'snapshot', snapshot: unusual(execution, place) }
  }
  const asked = context.progress || context.gates
  const step = state === 'failed' && asked ? await failingStep(reading) : undefined
  return { kind: 'snapshot', snapshot: snapshotOf(execution, { place, state, step }) }
}

/** PENDING_REDRIVE, and what we have never seen: it goes on, and the raw word is the message. */
function unusual(execution: DescribeExecutionCommandOutput, place: Place): Snapshot {
  const message =
    execution.status === 'PENDING_REDRIVE'
      ? 'waits to be redriven'
      : `status ${execution.status ?? 'unknown'}`
  return snapshotOf(execution, { place, state: 'running', progress: { message } })
}

async function readRunning(reading: Reading, execution: DescribeExecutionCommandOutput): Promise<GetResult> {
  const { engine, workflow, place, context } = reading
  const running = snapshotOf(execution, { place, state: 'running' })
  if (!context.gates) {
    const progress = context.progress ? await softly(reading, () => newestProgress(reading)) : undefined
    return { kind: 'snapshot', snapshot: { ...running, ...(progress && { progress }) } }
  }
  const before = parseMarks(context.marks)
  const data = needsParameters(workflow)
  const history = historyRead(reading, data, data ? PAGE.data : PAGE.gates)
  const { events, newest } = await eventsBackTo(before?.lastEvent ?? 0, history)
  const after = followTasks(before, events, workflow, engine.warn)
  const gates = openGates(after, workflow)
  const question = gates.map((gate) => gate.prompt).join(' / ')
  const progress = gates.length > 0 ? { message: question } : progressOf(newest)
  const snapshot: Snapshot = {
    ...running,
    state: gates.length > 0 ? 'waiting' : 'running',
    gates,
    ...(context.progress && progress && { progress }),
  }
  return { kind: 'snapshot', snapshot, marks: { ...after } as Marks }
}

function historyRead({ engine, run, context }: Reading, data: boolean, pageSize: number): HistoryRead {
  return { client: engine.clients.reads, executionArn: run.id, signal: context.signal, data, pageSize }
}

/**
 * The pages back to the event that was seen last, oldest event first; and the newest page, for progress. Both may
 * reach further back than that event.
 */
async function eventsBackTo(
  last: number,
  history: HistoryRead,
): Promise<{ events: Event[]; newest: Event[] }> {
  const pages: (readonly Event[])[] = []
  for await (const page of newestFirst(history)) {
    pages.push(page)
    if (page.some((event) => event.id <= last)) break
  }
  return { events: pages.flat().reverse(), newest: (pages[0] ?? []).toReversed() }
}

async function newestProgress(reading: Reading): Promise<Snapshot['progress']> {
  for await (const page of newestFirst(historyRead(reading, false, PAGE.progress))) {
    return progressOf(page.toReversed())
  }
  return undefined
}

/** The state that was entered last on the way to the failure. Throttling passes, so then all is read again. */
async function failingStep(reading: Reading): Promise<string | undefined> {
  const read = async () => {
    const events: Event[] = []
    for await (const page of newestFirst(historyRead(reading, false, PAGE.progress))) {
      events.push(...page)
      const end = events.find(isEnd)
      const step = end && stateBefore(byId(events), end.id)
      if (step) return step.stateEnteredEventDetails?.name
    }
    return undefined
  }
  return softly(reading, read, ['throttled'])
}

/** What only adds to a snapshot must not keep it back: when it can't be read it is left out. */
async function softly<T>(
  { engine, run }: Reading,
  read: () => Promise<T>,
  except: readonly RunbridgeError['code'][] = [],
): Promise<T | undefined> {
  try {
    return await read()
  } catch (thrown) {
    const error = engineError(thrown, { action: 'states:GetExecutionHistory', resource: run.id })
    if (except.includes(error.code)) throw thrown
    engine.warn(error.message)
    return undefined
  }
}

function unreadable(code: RunbridgeError['code'], message: string): GetResult {
  return { kind: 'unreadable', error: new RunbridgeError(code, message) }
}
