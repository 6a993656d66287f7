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
import { failingState } from './failing-state.js'
import { openGates } from './gates.js'
import { byId, type Event, isEnd, newestFirst, stateBefore } from './history.js'
import { withMapRun } from './map-run.js'
import { parseMarks, type RunMarks } from './marks.js'
import { goesOn, hasEnded, historyRead, type Observed, type Observing, observe } from './observe.js'
import { currentMap, progressOf } from './progress.js'
import { snapshotOf } from './snapshot.js'
import { stateOf } from './states.js'
import type { StepFunctionsWorkflow } from './workflow.js'

/**
 * The history tells by itself that an execution goes on. Still its status is asked for every so many looks, for
 * anything that ends an execution and that the history does not have.
 */
const LOOKS_BY_HISTORY = 25

interface Reading extends Observing {
  readonly place: Place
  /** What the last look noted. */
  readonly known: RunMarks | undefined
}

type Settled<T> = { readonly value: T } | { readonly thrown: unknown }

/**
 * One look at a run. DescribeExecution alone where neither progress nor gates are asked for; else the history alone
 * while it goes on, and both where it begins, ends, or can't be followed.
 */
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
  const reading: Reading = {
    ...{ engine, workflow, run, place, context },
    known: parseMarks(context.marks),
    softly: (read) => softly(engine, run, read),
  }
  const byHistory = await lookAtHistory(reading)
  if (byHistory && 'kind' in byHistory) return byHistory
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
    return await readAttempt(reading, execution, byHistory)
  } catch (thrown) {
    const request = { action: 'states:GetExecutionHistory', resource: run.id }
    return { kind: 'unreadable', error: engineError(thrown, request) }
  }
}

/** A result where the history alone shows that the attempt goes on; else what it showed, if it was read. */
async function lookAtHistory(reading: Reading): Promise<GetResult | Settled<Observed> | undefined> {
  const { known, context } = reading
  if (!known || !asksMore(context) || known.looks >= LOOKS_BY_HISTORY) return undefined
  const counted = await lookAtMapRun(reading, known)
  if (counted) return runningResult(reading, counted)
  const observed = await settled(() => observe(reading, known))
  if (!('value' in observed) || !goesOn(observed.value)) return observed
  const { marks } = observed.value
  return runningResult(reading, { ...marks, looks: known.looks + 1 })
}

/**
 * While a Map Run goes on, its counts are all that changes: every other look is at them, instead of the history. Where
 * there is no room for that, or it fails, the look is at the history, and the last counts stand.
 */
async function lookAtMapRun(reading: Reading, known: RunMarks): Promise<RunMarks | undefined> {
  const { engine, workflow, context } = reading
  const { mapRuns, clients } = engine
  const arn = currentMap(known)?.mapRunArn
  if (!context.progress || arn === undefined || known.looks % 2 === 1) return undefined
  if (!mapRuns.admit(workflow.id)) return undefined
  const count = () => withMapRun(known, arn, clients.mapRuns ?? clients.reads, context.signal)
  const read = () =>
    count().catch((thrown: unknown) => {
      mapRuns.failed(workflow.id)
      throw thrown
    })
  const counted = await softly(engine, { id: arn }, read, 'states:DescribeMapRun')
  return counted && { ...counted, looks: known.looks + 1 }
}

async function readAttempt(
  reading: Reading,
  execution: DescribeExecutionCommandOutput,
  observed: Settled<Observed> | undefined,
): Promise<GetResult> {
  const { engine, run, place, context, known } = reading
  const redrives = execution.redriveCount ?? 0
  if (redrives < run.attempt) {
    return unreadable('unavailable', `AWS does not show attempt ${run.attempt} of ${run.id} yet.`)
  }
  if (redrives > run.attempt) {
    const snapshot = await endOfAttempt(historyRead(reading), run.attempt, place, execution.startDate)
    if (snapshot) return { kind: 'snapshot', snapshot }
    return unreadable(
      'unavailable',
      `The history of ${run.id} does not show how attempt ${run.attempt} ended.`,
    )
  }
  const state = stateOf(execution.status, engine.warn)
  if (!isTerminal(state)) {
    return execution.status === 'RUNNING'
      ? readRunning(reading, execution, observed)
      : { kind: 'snapshot', snapshot: unusual(execution, place) }
  }
  const failed = state === 'failed' || state === 'timed_out'
  const step = failed && asksMore(context) ? await failingStep(reading, observed) : undefined
  const nested = (observed && 'value' in observed ? observed.value.marks : known)?.nested
  return { kind: 'snapshot', snapshot: snapshotOf(execution, { place, state, step, nested }) }
}

/** PENDING_REDRIVE, and what we have never seen: it goes on, and the raw word is the message. */
function unusual(execution: DescribeExecutionCommandOutput, place: Place): Snapshot {
  const message =
    execution.status === 'PENDING_REDRIVE'
      ? 'waits to be redriven'
      : `status ${execution.status ?? 'unknown'}`
  return snapshotOf(execution, { place, state: 'running', progress: { message } })
}

async function readRunning(
  reading: Reading,
  execution: DescribeExecutionCommandOutput,
  before: Settled<Observed> | undefined,
): Promise<GetResult> {
  const { place, context, known } = reading
  const bare: GetResult = { kind: 'snapshot', snapshot: snapshotOf(execution, { place, state: 'running' }) }
  if (!asksMore(context)) return bare
  const look = async () => (before ? unsettled(before) : observe(reading, known))
  const observed = context.gates ? await look() : await reading.softly(look)
  // The history may be ahead: the next look has to see the end again, so it is not marked as seen.
  if (!observed || hasEnded(observed)) return bare
  const startedAt = execution.startDate?.getTime()
  const { marks } = observed
  return runningResult(reading, { ...marks, looks: 0, ...(startedAt !== undefined && { startedAt }) })
}

function runningResult({ workflow, run, place, context }: Reading, marks: RunMarks): GetResult {
  const gates = context.gates ? openGates(marks, workflow) : []
  const question = gates.map((gate) => gate.prompt).join(' / ')
  const progress = gates.length > 0 ? { message: question } : progressOf(marks)
  const startDate = marks.startedAt === undefined ? undefined : new Date(marks.startedAt)
  const snapshot = snapshotOf(
    { executionArn: run.id, status: 'RUNNING', startDate },
    { place, state: 'running', nested: marks.nested, ...(context.progress && { progress }) },
  )
  const state = gates.length > 0 ? 'waiting' : 'running'
  return { kind: 'snapshot', snapshot: { ...snapshot, state, gates }, marks: { ...marks } as Marks }
}

function asksMore({ gates, progress }: GetContext): boolean {
  return gates || progress
}

/** Throttling passes, so then all is read again. */
async function failingStep(reading: Reading, observed: Settled<Observed> | undefined) {
  if (observed && 'value' in observed) {
    const { events, before } = observed.value
    const end = events.findLast(isEnd)
    const step = end && failingState(events, end, before)
    if (step !== undefined) return step
  }
  const { engine, run } = reading
  const read = async () => {
    let events: readonly Event[] = []
    for await (const page of newestFirst(historyRead(reading))) {
      events = [...page.toReversed(), ...events]
      const end = events.findLast(isEnd)
      if (end && stateBefore(byId(events), end.id)) break
    }
    const end = events.findLast(isEnd)
    return end && failingState(events, end)
  }
  return softly(engine, run, read, 'states:GetExecutionHistory', ['throttled'])
}

async function settled<T>(read: () => Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await read() }
  } catch (thrown) {
    return { thrown }
  }
}

function unsettled<T>(result: Settled<T>): T {
  if ('value' in result) return result.value
  throw result.thrown
}

/** What only adds to a snapshot must not keep it back: when it can't be read it is left out. */
async function softly<T>(
  { warn }: Engine,
  { id: resource }: Pick<RunRef, 'id'>,
  read: () => Promise<T>,
  action = 'states:GetExecutionHistory',
  except: readonly RunbridgeError['code'][] = [],
): Promise<T | undefined> {
  try {
    return await read()
  } catch (thrown) {
    const error = engineError(thrown, { action, resource })
    if (except.includes(error.code)) throw thrown
    warn(error.message)
    return undefined
  }
}

function unreadable(code: RunbridgeError['code'], message: string): GetResult {
  return { kind: 'unreadable', error: new RunbridgeError(code, message) }
}
