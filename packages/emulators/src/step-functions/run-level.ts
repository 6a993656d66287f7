import type { Json } from './asl.js'
import { type History, withInput, withOutput } from './history.js'
import { type InterpreterEvent, interpret, type StateFunction } from './interpreter.js'
import { type Envelope, type Level, type LevelState, stateNamesField } from './level.js'
import { tooLarge } from './limits.js'
import { runMap } from './run-map.js'
import { runParallel } from './run-parallel.js'
import { runTask } from './run-task.js'
import { failureOf, stopped, type TaskFailure, taskFailure } from './task-failure.js'
import type { TaskTokens } from './task-tokens.js'
import type { TaskFunctions } from './tasks.js'

/** What all levels of one execution share. */
interface RunningExecution {
  arn: string
  name: string
  region: string
  history: History
  tokens: TaskTokens
  tasks: TaskFunctions
  defaultTask: TaskFunctions[string] | undefined
  /** Stands for `$$.Task.Token` until a task is scheduled. */
  tokenPlaceholder: string
  newId: () => string
}

/** A line of events, each led to by the one before: the execution's, a branch's or an iteration's. */
export interface Thread {
  last: number
  /** The state entered and not yet left, with the event that says so. */
  state: { name: string; input: Json; entered: number } | undefined
}

export interface LevelRun {
  execution: RunningExecution
  thread: Thread
  /** The context object: what `$$` reads. */
  context: Record<string, unknown>
  /** Aborted when a sibling failed or the execution is over. */
  signal: AbortSignal
  /** Goes on in this state, which is entered already (redrive). */
  resumeAt?: string
}

/** A state's function: runs a Task, Parallel or Map and appends its events. */
type StateRunner = (state: LevelState, input: Envelope | Json, run: LevelRun) => Promise<Json>

const runners: Record<string, StateRunner> = { Task: runTask, Parallel: runParallel, Map: runMap }

/** Runs one level of states to its output; throws the failure that no state of this level caught. */
export async function runLevel(level: Level, input: Json, run: LevelRun): Promise<Json> {
  if (run.signal.aborted) throw stopped()
  const functions: Record<string, StateFunction> = {}
  for (const state of level.states.values()) {
    const runner = runners[state.asl.Type]
    if (!runner) continue
    functions[state.name] = async (given) => {
      await eventsRecorded()
      if (run.signal.aborted) throw stopped()
      return runner(state, given, run)
    }
  }
  const definition = { ...level.definition, StartAt: run.resumeAt ?? level.definition.StartAt }
  const running = interpret(definition, input, { ...run.context, [stateNamesField]: level.names }, functions)
  run.signal.addEventListener('abort', running.abort, { once: true })
  const tooMuch = recordEvents(running.events, level, run, running.abort)
  try {
    const output = await running.result
    const failure = await tooMuch
    if (failure) throw failure
    return output
  } catch (error) {
    if (run.signal.aborted) throw stopped()
    throw (await tooMuch) ?? explained(error as Error, run.thread)
  } finally {
    run.signal.removeEventListener('abort', running.abort)
  }
}

/**
 * The interpreter's log is read in microtasks, so its StateEntered may still be on the way when a state's function is
 * called; all of them have run by the next turn of the event loop.
 */
function eventsRecorded(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Appends entered and exited states; resolves with a failure where an output was too large to go on with. */
async function recordEvents(
  events: AsyncIterable<InterpreterEvent>,
  level: Level,
  { thread, execution, signal, resumeAt }: LevelRun,
  abort: () => void,
): Promise<TaskFailure | undefined> {
  let resumed = resumeAt !== undefined
  for await (const { type, state } of events) {
    if (signal.aborted || !state) continue
    const kind = level.states.get(state.name)?.asl.Type
    if (type === 'StateEntered') {
      if (!resumed) {
        const details = { name: state.name, ...withInput(state.input) }
        thread.last = execution.history.add(`${kind}StateEntered`, thread.last, details)
      }
      thread.state = {
        name: state.name,
        input: state.input,
        entered: resumed ? (thread.state?.entered ?? 0) : thread.last,
      }
      resumed = false
    }
    if (type === 'StateExited') {
      const output = state.output ?? null
      if (tooLarge(JSON.stringify(output))) {
        abort()
        return dataLimitExceeded(state.name)
      }
      const details = { name: state.name, ...withOutput(output) }
      thread.last = execution.history.add(`${kind}StateExited`, thread.last, details)
      thread.state = undefined
    }
  }
  return undefined
}

export function dataLimitExceeded(stateName: string): TaskFailure {
  const cause = `The state/task '${stateName}' returned a result with a size exceeding the maximum number of bytes service limit.`
  return taskFailure('States.DataLimitExceeded', cause, true)
}

/** The state's own error, with the place that AWS adds to a States.Runtime. */
function explained(error: Error, thread: Thread): Error {
  const thrown = (error.cause ?? error) as Error
  const { error: name, cause } = failureOf(thrown)
  const place = `An error occurred while executing the state '${thread.state?.name}'`
  if (name !== 'States.Runtime' || cause?.startsWith('An error occurred')) return thrown
  return taskFailure(name, `${place} (entered at the event id #${thread.state?.entered}). ${cause}`, true)
}
