import { deepStrictEqual } from 'node:assert'
import { stepFunctions } from '@runbridge/step-functions'
import { readRecordings } from './recordings.mjs'

/** @typedef {import('./recordings.mjs').Event} Event */
/** @typedef {import('./recordings.mjs').RecordedHistory} RecordedHistory */

const MACHINE = 'arn:aws:states:us-east-1:123456789012:stateMachine:recorded'
const EXECUTION = 'arn:aws:states:us-east-1:123456789012:execution:recorded:rb-1'

/** What DescribeExecution says of a run that ended with this event. @type {Record<string, (event: Event) => object>} */
const DESCRIBED = {
  ExecutionSucceeded: (event) => ({ status: 'SUCCEEDED', ...event.executionSucceededEventDetails }),
  ExecutionFailed: (event) => ({ status: 'FAILED', ...event.executionFailedEventDetails }),
  ExecutionTimedOut: (event) => ({ status: 'TIMED_OUT', ...event.executionTimedOutEventDetails }),
  ExecutionAborted: (event) => ({ status: 'ABORTED', ...event.executionAbortedEventDetails }),
}
const STATES = { SUCCEEDED: 'succeeded', FAILED: 'failed', TIMED_OUT: 'timed_out', ABORTED: 'cancelled' }

/**
 * Replays every recorded history event by event, as a run that is looked at again and again, and compares what the
 * adapter derives with what the recording says: read off by position, as a person reads it, and not by the links
 * between the events that the adapter follows.
 * @param {import('../checks.mjs').Checks} checks
 * @param {string | undefined} folder
 */
export async function againstRecordings(checks, folder) {
  if (!folder) {
    checks.skip('recordings of AWS', 'RUNBRIDGE_RECORDINGS names no folder of them')
    return
  }
  const { histories, without } = readRecordings(folder)
  for (const history of histories) await checks.check(`recording ${history.name}`, () => replay(history))
  for (const [file, tests] of Object.entries(without)) {
    const names = tests.map((name) => name.slice(file.length + 1)).join(', ')
    checks.skip(`${tests.length} of ${file}`, `no history in them: ${names}`)
  }
}

/** @param {RecordedHistory} history */
async function replay({ events, described }) {
  let length = 0
  /** @type {any} */
  let marks
  const backend = stepFunctions({ clients: replaying(() => events.slice(0, length), described) })
  for (length = 1; length <= events.length; length += 1) {
    const present = events.slice(0, length)
    const context = {
      signal: AbortSignal.timeout(10_000),
      owner: 'local',
      gates: true,
      progress: true,
      ...(marks && { marks }),
    }
    const result = await backend.get({ id: MACHINE }, { id: EXECUTION, attempt: 0 }, context)
    if (result.kind !== 'snapshot') throw new Error(`at event ${length}: ${result.kind}`)
    // As it comes back from a store.
    marks = result.marks ? JSON.parse(JSON.stringify(result.marks)) : marks
    try {
      deepStrictEqual(shownOf(result.snapshot), expected(present, described))
    } catch (thrown) {
      throw new Error(`at event ${length}: ${thrown instanceof Error ? thrown.message : thrown}`)
    }
  }
}

/** @param {import('@runbridge/core').Snapshot} snapshot */
function shownOf({ state, gates, output, error, progress }) {
  const open = gates.map(({ id, step }) => ({ id, step }))
  const step = error ? error.step : gates.length > 0 ? gates[0]?.step : currentOf(progress?.message)
  return { state, step, gates: open, output, code: error?.code, message: error?.detail ?? error?.message }
}

/** `Charge (try 2) since …` is at Charge. @param {string | undefined} message */
function currentOf(message) {
  return message?.replace(/ since [\dT:Z-]+$/, '').replace(/ \(try \d+\)$/, '')
}

/** @param {Event[]} events @param {Record<string, any> | undefined} described */
function expected(events, described) {
  const end = events.at(-1)
  const ended = end && DESCRIBED[end.type] && (described ?? DESCRIBED[end.type]?.(end))
  if (ended) return expectedEnd(events, /** @type {any} */ (ended))
  const gate = openGate(events)
  const step = gate?.step ?? currentStep(events)
  const state = gate ? 'waiting' : 'running'
  return { state, step, gates: gate ? [gate] : [], output: undefined, code: undefined, message: undefined }
}

/** @param {Event[]} events @param {{ status: keyof typeof STATES, output?: string, error?: string, cause?: string }} end */
function expectedEnd(events, { status, output, error, cause }) {
  const entered = events.findLast((event) => event.type.endsWith('StateEntered'))
  const step = entered?.stateEnteredEventDetails?.name
  const parsed = cause === undefined ? undefined : parse(cause)
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  const said = isObject ? JSON.stringify(parsed, undefined, 2) : cause
  const bare = { state: STATES[status], gates: [], output: undefined, step: undefined }
  if (status === 'SUCCEEDED') {
    return { ...bare, output: parse(output ?? ''), code: undefined, message: undefined }
  }
  if (status === 'ABORTED') {
    const by = 'Stopped outside of this server'
    return { ...bare, code: error ?? 'ABORTED', message: cause === undefined ? `${by}.` : `${by}: ${cause}` }
  }
  return { ...bare, step, code: error ?? 'FAILED', message: said ?? '' }
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** All that was recorded is one after the other, also in the one Parallel: what was entered last and not left. */
function currentStep(/** @type {Event[]} */ events) {
  /** @type {string[]} */
  const open = []
  for (const { type, stateEnteredEventDetails, stateExitedEventDetails } of events) {
    if (type.endsWith('StateEntered')) open.push(stateEnteredEventDetails?.name ?? '')
    if (type.endsWith('StateExited')) open.splice(open.lastIndexOf(stateExitedEventDetails?.name ?? ''), 1)
    if (type === 'TaskStateAborted') open.pop()
  }
  return open.at(-1)
}

/** @param {Event[]} events */
function openGate(events) {
  const at = events.findLastIndex(
    ({ type, taskScheduledEventDetails, lambdaFunctionScheduledEventDetails }) =>
      type.endsWith('Scheduled')
        ? (taskScheduledEventDetails ?? lambdaFunctionScheduledEventDetails)?.resource?.endsWith(
            '.waitForTaskToken',
          )
        : false,
  )
  const scheduled = events[at]
  const waits = events.slice(at + 1).every(({ type }) => type === 'TaskStarted' || type === 'TaskSubmitted')
  if (!scheduled || !waits) return undefined
  return { id: `event-${scheduled.id}`, step: currentStep(events) }
}

/**
 * Clients that answer from a recording: the newest events first, without data where none was asked for.
 * @param {() => Event[]} present @param {Record<string, any> | undefined} described
 */
function replaying(present, described) {
  /** @type {Record<string, (input: any) => object>} */
  const answers = {
    DescribeExecutionCommand: () => {
      const events = present()
      const end = events.at(-1)
      const ended = end && DESCRIBED[end.type] && (described ?? DESCRIBED[end.type]?.(end))
      return {
        status: 'RUNNING',
        ...ended,
        executionArn: EXECUTION,
        startDate: new Date(0),
        stopDate: undefined,
      }
    },
    GetExecutionHistoryCommand: ({ maxResults, nextToken = 0, includeExecutionData }) => {
      const newest = present().toReversed()
      const next = Number(nextToken) + maxResults
      const page = newest.slice(Number(nextToken), next)
      const events = includeExecutionData ? page : page.map(withoutData)
      return { events, ...(next < newest.length && { nextToken: String(next) }) }
    },
  }
  const send = async (/** @type {any} */ command) => {
    const answer = answers[command.constructor.name]
    if (!answer) throw new Error(`${command.constructor.name} was not recorded.`)
    return answer(command.input)
  }
  const client = /** @type {any} */ ({ send })
  return { reads: client, writes: client, starts: client, sync: client }
}

/** @param {Event} event */
function withoutData(event) {
  const data = ['input', 'output', 'parameters', 'inputDetails', 'outputDetails']
  return Object.fromEntries(
    Object.entries(event).map(([field, details]) => [
      field,
      field.endsWith('EventDetails')
        ? Object.fromEntries(Object.entries(details).filter(([key]) => !data.includes(key)))
        : details,
    ]),
  )
}
