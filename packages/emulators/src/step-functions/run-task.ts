import type { Json } from './asl.js'
import { failureDetails, withInput, withOutput } from './history.js'
import type { Envelope, LevelState } from './level.js'
import { tooLarge } from './limits.js'
import { longTimer } from './long-timer.js'
import { dataLimitExceeded, type LevelRun } from './run-level.js'
import { type ServiceResource, serviceResource } from './service-resource.js'
import { failureOf, stopped, taskFailure, timedOut } from './task-failure.js'
import type { TaskAnswer } from './task-tokens.js'
import { findTask, type TaskFunction } from './tasks.js'

/** One attempt at a Task: schedules it, calls its local function or waits for its token, and appends the events. */
export async function runTask(state: LevelState, given: Envelope | Json, run: LevelRun): Promise<Json> {
  const { execution } = run
  const envelope: Envelope = state.enveloped ? (given as Envelope) : { input: given as Json }
  const service = serviceResource(state.asl.Resource ?? '')
  const events = taskEvents(service, run)
  const over = new AbortController()
  const signal = AbortSignal.any([over.signal, run.signal])
  const clock = taskClock(state, envelope)
  const open = service.callback
    ? execution.tokens.open({ executionArn: execution.arn, stateName: state.name }, clock.heartbeat)
    : undefined
  const parameters = withToken(envelope.input ?? null, execution.tokenPlaceholder, open?.token)
  const task =
    findTask(execution.tasks, state.name, state.asl, functionName(parameters)) ?? execution.defaultTask
  try {
    events.scheduled(parameters, clock.timeoutSeconds, clock.heartbeatSeconds)
    const call = () =>
      callTask(task, service, parameters, run, { stateName: state.name, taskToken: open?.token, signal })
    const work = open ? submitted(call, task, events).then(() => answered(open.answer)) : call()
    const output = await Promise.race([work, clock.missed, whenAborted(run.signal, over.signal)])
    if (tooLarge(JSON.stringify(output))) throw dataLimitExceeded(state.name)
    events.succeeded(output)
    return output
  } catch (error) {
    if (run.signal.aborted) throw stopped()
    events.failed(error as Error)
    throw error
  } finally {
    if (open) execution.tokens.close(open.token)
    clock.stop()
    over.abort()
  }
}

async function submitted(
  call: () => Promise<Json>,
  task: TaskFunction | undefined,
  events: TaskEvents,
): Promise<void> {
  if (!task) return events.submitted({ SdkHttpMetadata: { HttpStatusCode: 200 } })
  events.submitted(await call())
}

async function answered(answer: Promise<TaskAnswer>): Promise<Json> {
  const given = await answer
  if (given.kind === 'success') return given.output
  throw taskFailure(given.error, given.cause)
}

/** Rejects when the signal aborts; no longer listens once the task is over. */
function whenAborted(signal: AbortSignal, over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(stopped()), { once: true, signal: over })
  })
}

/** Puts the task's own token where the definition passed `$$.Task.Token`, within strings too (States.Format). */
function withToken(value: Json, placeholder: string, token: string | undefined): Json {
  if (token === undefined) return value
  return JSON.parse(JSON.stringify(value).replaceAll(placeholder, token)) as Json
}

function functionName(parameters: Json): unknown {
  const isObject = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters)
  return isObject ? parameters.FunctionName : undefined
}

async function callTask(
  task: TaskFunction | undefined,
  service: ServiceResource,
  parameters: Json,
  { execution }: LevelRun,
  call: { stateName: string; taskToken: string | undefined; signal: AbortSignal },
): Promise<Json> {
  if (!task) {
    throw taskFailure(
      'States.TaskFailed',
      `No local function stands in for ${service.arn}; register one under tasks by the state's name ('${call.stateName}'), ` +
        'the Resource, or the Lambda function name.',
    )
  }
  const optimized = service.kind === 'service' && service.resourceType === 'lambda'
  const input = optimized ? payload(parameters) : parameters
  const { arn: executionArn, name: executionName } = execution
  try {
    const result = await task(input, { ...call, executionArn, executionName, resource: service.arn })
    const json = JSON.parse(JSON.stringify(result ?? null)) as Json
    return optimized ? { ExecutedVersion: '$LATEST', Payload: json, StatusCode: 200 } : json
  } catch (error) {
    const { error: name, cause } = failureOf(error)
    const isFunction = optimized || service.kind === 'lambda'
    throw taskFailure(name ?? 'Error', isFunction ? functionError(name, cause) : cause)
  }
}

function payload(parameters: Json): Json {
  const isObject = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters)
  return isObject ? (parameters.Payload ?? {}) : {}
}

/** The cause of a failed function, as the Node.js runtime of AWS Lambda words it. */
function functionError(errorType = 'Error', errorMessage = ''): string {
  return JSON.stringify({ errorType, errorMessage, trace: [] })
}

interface TaskClock {
  timeoutSeconds: number | undefined
  heartbeatSeconds: number | undefined
  heartbeat: () => void
  /** Rejects when the task took too long or missed a heartbeat. */
  missed: Promise<never>
  stop: () => void
}

function taskClock({ asl }: LevelState, envelope: Envelope): TaskClock {
  const timeoutSeconds = envelope.timeoutSeconds ?? asl.TimeoutSeconds
  const heartbeatSeconds = envelope.heartbeatSeconds ?? asl.HeartbeatSeconds
  let miss: (error: unknown) => void = () => {}
  const missed = new Promise<never>((_, reject) => {
    miss = reject
  })
  missed.catch(() => {})
  const timer = (seconds: number | undefined, kind: 'timeout' | 'heartbeat') =>
    seconds === undefined ? undefined : longTimer(() => void timedOut(kind).then(miss), seconds * 1000)
  const deadline = timer(timeoutSeconds, 'timeout')
  let beat = timer(heartbeatSeconds, 'heartbeat')
  return {
    timeoutSeconds,
    heartbeatSeconds,
    missed,
    heartbeat() {
      beat?.stop()
      beat = timer(heartbeatSeconds, 'heartbeat')
    },
    stop() {
      deadline?.stop()
      beat?.stop()
    },
  }
}

interface TaskEvents {
  scheduled(
    parameters: Json,
    timeoutInSeconds: number | undefined,
    heartbeatInSeconds: number | undefined,
  ): void
  submitted(output: Json): void
  succeeded(output: Json): void
  failed(error: Error): void
}

/** Service integrations and functions called by their ARN have events of their own. */
function taskEvents(service: ServiceResource, { execution, thread }: LevelRun): TaskEvents {
  const direct = service.kind === 'lambda'
  const subject = direct ? {} : { resource: service.resource, resourceType: service.resourceType }
  const add = (type: string, details?: Record<string, unknown>) => {
    thread.last = execution.history.add(`${direct ? 'LambdaFunction' : 'Task'}${type}`, thread.last, details)
  }
  return {
    scheduled(parameters, timeoutInSeconds, heartbeatInSeconds) {
      const limits = {
        ...(timeoutInSeconds !== undefined && { timeoutInSeconds }),
        ...(heartbeatInSeconds !== undefined && !direct && { heartbeatInSeconds }),
      }
      if (direct) add('Scheduled', { resource: service.arn, ...withInput(parameters), ...limits })
      else
        add('Scheduled', {
          ...subject,
          region: execution.region,
          parameters: JSON.stringify(parameters),
          ...limits,
        })
      add('Started', direct ? undefined : subject)
    },
    submitted: (output) => add('Submitted', { ...subject, ...withOutput(output) }),
    succeeded: (output) => add('Succeeded', { ...subject, ...withOutput(output) }),
    failed(error) {
      const failure = failureOf(error)
      const late = failure.error === 'States.Timeout' || failure.error === 'States.HeartbeatTimeout'
      add(late ? 'TimedOut' : 'Failed', { ...subject, ...failureDetails(failure) })
    },
  }
}
