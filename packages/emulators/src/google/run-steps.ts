import { setTimeout as delay } from 'node:timers/promises'
import { type Callback, createCallback } from './callbacks.js'
import type { History, StepEntry } from './history.js'
import { resolve, type SimulatedStep } from './simulated.js'

/** What the steps of one execution share. */
export interface Running {
  readonly variables: Record<string, unknown>
  readonly history: History
  readonly callbacks: Map<string, Callback>
  readonly signal: AbortSignal
  /** Where the execution is now, outermost first. */
  readonly current: Set<{ readonly routine: string; readonly step: string }>
  callbackUrl(callback: Callback): string
}

export interface Frame {
  readonly routine: string
  readonly step: string
}

/** A failure of the workflow, with where it was. */
export class Raised extends Error {
  override readonly name = 'Raised'
  readonly payload: unknown
  /** Innermost first. */
  readonly frames: Frame[] = []

  constructor(payload: unknown) {
    super('raised')
    this.payload = payload
  }
}

const NOTHING = Symbol('no return')

/** Runs the steps of a routine and gives what it returns, null where it returns nothing. */
export async function runRoutine(
  running: Running,
  routine: string,
  steps: readonly SimulatedStep[],
): Promise<unknown> {
  const value = await runSteps(running, routine, steps)
  return value === NOTHING ? null : value
}

async function runSteps(
  running: Running,
  routine: string,
  steps: readonly SimulatedStep[],
): Promise<unknown> {
  for (const step of steps) {
    const value = await runStep(running, routine, step)
    if (value !== NOTHING) return value
  }
  return NOTHING
}

async function runStep(running: Running, routine: string, step: SimulatedStep): Promise<unknown> {
  const { current, history, variables, signal } = running
  const frame = { routine, step: step.step }
  const entry = history.enter({ ...frame, stepType: stepType(step) })
  current.add(frame)
  try {
    if (step.ms !== undefined && step.ms > 0) await delay(step.ms, undefined, { signal })
    signal.throwIfAborted()
    const value = await act(running, routine, step)
    history.leave(entry, 'STATE_SUCCEEDED', variables)
    return value
  } catch (thrown) {
    signal.throwIfAborted()
    const raised =
      thrown instanceof Raised ? thrown : new Raised(String((thrown as Error)?.message ?? thrown))
    raised.frames.push(frame)
    history.leave(entry, 'STATE_FAILED', variables, JSON.stringify(raised.payload))
    throw raised
  } finally {
    current.delete(frame)
  }
}

async function act(running: Running, routine: string, step: SimulatedStep): Promise<unknown> {
  const { variables } = running
  if ('return' in step) return resolve(step.return, variables)
  if ('raise' in step) throw new Raised(resolve(step.raise, variables))
  if ('createCallback' in step) {
    const callback = createCallback(step.method ?? 'POST')
    running.callbacks.set(callback.id, callback)
    variables[step.createCallback] = { url: running.callbackUrl(callback) }
  } else if ('awaitCallback' in step) {
    const request = await receive(running, step.awaitCallback, step.timeoutMs)
    if (step.result !== undefined) variables[step.result] = { http_request: request }
  } else if ('call' in step) {
    const value = await step.call({ ...variables })
    if (step.result !== undefined) variables[step.result] = value
  } else if ('routine' in step) {
    const value = await runRoutine(running, step.routine, step.steps)
    if (step.result !== undefined) variables[step.result] = value
  } else if ('for' in step) {
    return loop(running, routine, step.step, step.for, step.steps)
  } else if ('parallel' in step) {
    const branches = Object.values(step.parallel)
    await Promise.all(branches.map((steps) => runSteps(running, routine, steps)))
  } else if (step.assign) {
    Object.assign(variables, resolve(step.assign, variables))
  }
  return NOTHING
}

async function loop(
  running: Running,
  routine: string,
  name: string,
  times: number,
  steps: readonly SimulatedStep[],
): Promise<unknown> {
  for (let index = 1; index <= times; index += 1) {
    const progress = { type: 'PROGRESS_TYPE_FOR', number: index, expected: times }
    const entry: StepEntry | undefined = running.history.enter({
      routine,
      step: name,
      stepType: 'STEP_FOR_ITERATION',
      progress,
    })
    const value = await runSteps(running, routine, steps)
    running.history.leave(entry, 'STATE_SUCCEEDED', running.variables)
    if (value !== NOTHING) return value
  }
  return NOTHING
}

async function receive(running: Running, variable: string, timeoutMs: number | undefined) {
  const { url } = (running.variables[variable] ?? {}) as { url?: string }
  const callback = running.callbacks.get(url?.split('/').at(-1) ?? '')
  if (!callback) throw new Raised({ message: `${variable} is no callback`, tags: ['TypeError'] })
  const timeout = AbortSignal.timeout(timeoutMs ?? 43_200_000)
  try {
    return await callback.receive(AbortSignal.any([running.signal, timeout]))
  } catch (thrown) {
    if (!timeout.aborted) throw thrown
    throw new Raised({ message: 'callback timed out', tags: ['TimeoutError'] })
  }
}

function stepType(step: SimulatedStep): string {
  if ('return' in step) return 'STEP_RETURN'
  if ('raise' in step) return 'STEP_RAISE'
  if ('createCallback' in step || 'awaitCallback' in step) return 'STEP_STD_LIB_CALL'
  if ('routine' in step) return 'STEP_SUBWORKFLOW_CALL'
  if ('for' in step) return 'STEP_FOR'
  if ('call' in step) return 'STEP_CALL'
  return 'parallel' in step ? 'STEP_PARALLEL_BRANCH' : 'STEP_ASSIGN'
}
