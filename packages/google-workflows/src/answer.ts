import {
  type AnswerResult,
  type CallContext,
  canonicalJson,
  type Gate,
  type GateResponse,
  type Json,
  type JsonObject,
  RunbridgeError,
  type RunRef,
} from '@runbridge/core'
import { type Callback, callbackHash, callbackId, isWaited, listCallbacks } from './callbacks.js'
import type { Engine } from './engine.js'
import { EngineFailure } from './engine-failure.js'
import { didNothing, engineError } from './errors.js'
import type { Execution } from './executions-api.js'
import { newestUrl, parseGateId, variableAt, waitsOf } from './gates.js'
import { stateOf } from './states.js'
import { inProgress, type StepEntry, stepEntries } from './step-entries.js'
import type { GateConfig, GoogleWorkflow } from './workflow.js'

/** Answers whose outcome this process does not know, by run, gate and what was sent. */
export type LostAnswers = Set<string>
const MOST_LOST = 1_000

export interface Answering {
  readonly engine: Engine
  readonly workflow: GoogleWorkflow
  readonly run: RunRef
  readonly gate: Gate
  readonly response: GateResponse
  readonly context: CallContext
  readonly lost: LostAnswers
}

/** What is there when the answer is given. */
interface Found {
  readonly execution: Execution
  readonly callbacks: readonly Callback[]
  readonly entries: readonly StepEntry[]
}

/**
 * Delivers an answer to the callback that the step waits for. Its URL is looked up for this and kept nowhere. Google
 * keeps what arrives while nobody waits for the next wait, so an answer is only sent while its own wait is open.
 */
export async function answerGate(answering: Answering): Promise<AnswerResult> {
  const { engine, workflow, run, gate, response } = answering
  const config = Object.hasOwn(workflow.gates ?? {}, gate.step) ? workflow.gates?.[gate.step] : undefined
  if (!config || !parseGateId(gate.id)) {
    return failed('invalid_input', `There is no gate ${gate.id} in this run.`)
  }
  const request = { permission: 'workflows.callbacks.list', resource: run.id }
  try {
    const found = await look(answering)
    const callback = callbackOf(found, answering)
    if (!callback) return closed(found, answering, config)
    return response.action === 'decline' && config.decline === undefined
      ? await cancelRun(answering)
      : await send(answering, found, callback, config)
  } catch (thrown) {
    engine.warn(`An answer to ${run.id} came to nothing: ${engineError(thrown, request).message}`)
    return { kind: 'failed', error: engineError(thrown, request) }
  }
}

async function look({ engine, workflow, run, context }: Answering): Promise<Found> {
  const { rest, writes } = engine.clients
  const [execution, callbacks, entries] = await Promise.all([
    writes.get(run.id, context.signal),
    listCallbacks(rest, run, context.signal),
    workflow.historyLevel === undefined ? [] : stepEntries(rest, run, true, context.signal),
  ])
  return { execution, callbacks, entries }
}

/** The callback of this very wait while it is open. */
function callbackOf(found: Found, { workflow, gate, engine }: Answering): Callback | undefined {
  const id = parseGateId(gate.id)
  if (!id || found.execution.state !== 'ACTIVE') return undefined
  if ('hash' in id) {
    return found.callbacks.find((each) => callbackHash(each) === id.hash && isWaited(each))
  }
  const waits = waitsOf({ workflow, ...found }, engine.warn)
  return waits.find(({ entry, step }) => entry?.entryId === id.entry && step === gate.step)?.callback
}

function payloadOf(response: GateResponse, { accept, decline }: GateConfig): JsonObject {
  if (response.action === 'accept') return { ...accept, ...response.content }
  return decline ?? {}
}

async function send(
  answering: Answering,
  found: Found,
  callback: Callback,
  config: GateConfig,
): Promise<AnswerResult> {
  const { engine, run, context, gate, lost, response } = answering
  const { rest } = engine.clients
  const url = urlOf(found, callback, config, answering)
  if (url === undefined) {
    return failed(
      'misconfigured',
      `The variable ${config.urlVariable} does not hold the URL of the callback at ${gate.step}; look at \`urlVariable\` of the gate.`,
    )
  }
  const payload = payloadOf(response, config)
  const key = lostKey(run, gate, payload)
  try {
    await rest.callback({ url, execution: run.id, method: callback.method, payload }, context.signal)
    lost.delete(key)
    return { kind: 'delivered' }
  } catch (thrown) {
    if (thrown instanceof RunbridgeError) return { kind: 'failed', error: thrown }
    if (thrown instanceof EngineFailure && ['NOT_FOUND', 'FAILED_PRECONDITION'].includes(thrown.status)) {
      const now = await look(answering)
      if (!callbackOf(now, answering)) return closed(now, answering, config)
      return failed(
        'misconfigured',
        `The step ${gate.step} waits, and Google knows no callback at the URL that was called; name the variable that holds it (\`urlVariable\`).`,
      )
    }
    if (!didNothing(thrown)) remember(lost, key)
    return { kind: 'failed', error: engineError(thrown, { permission: SEND, resource: run.id }) }
  }
}

const SEND = 'workflows.callbacks.send'

function urlOf(
  { entries }: Found,
  callback: Callback,
  { urlVariable }: GateConfig,
  { engine }: Answering,
): string | undefined {
  if (urlVariable === undefined) return engine.clients.rest.callbackUrl(callback.name)
  return newestUrl(entries, urlVariable, new Map([[callbackId(callback), callback]]))
}

/** Declining stops the run where nothing else is configured, so that no workflow takes silence for a yes. */
async function cancelRun({ engine, run, context }: Answering): Promise<AnswerResult> {
  try {
    await engine.clients.writes.cancel(run.id, context.signal)
    return { kind: 'delivered' }
  } catch (thrown) {
    if (thrown instanceof EngineFailure && thrown.status === 'FAILED_PRECONDITION')
      return { kind: 'too_late' }
    const request = { permission: 'workflows.executions.cancel', resource: run.id }
    return { kind: 'failed', error: engineError(thrown, request) }
  }
}

/** The wait is over. By our own answer, if what arrived there is what we send. */
function closed(found: Found, answering: Answering, config: GateConfig): AnswerResult {
  const { gate, run, response, lost, engine } = answering
  if (stateOf(found.execution.state, engine.warn) === 'unreadable') {
    return failed('unavailable', `Google can not read the data of ${run.id} now.`)
  }
  const stops = response.action === 'decline' && config.decline === undefined
  if (stops) return { kind: found.execution.state === 'CANCELLED' ? 'delivered' : 'too_late' }
  const payload = payloadOf(response, config)
  const arrived = arrivedAt(found.entries, gate, config)
  if (arrived !== undefined) {
    return { kind: canonicalJson(arrived) === canonicalJson(payload) ? 'delivered' : 'too_late' }
  }
  if (!lost.has(lostKey(run, gate, payload))) return { kind: 'too_late' }
  return failed(
    'unknown_outcome',
    `The step ${gate.step} waits no more. This answer was sent and its receipt was lost; whether it was this one that arrived, the history does not tell.`,
  )
}

/** The body of the request that ended the wait, where the history tells it. */
function arrivedAt(entries: readonly StepEntry[], gate: Gate, { result }: GateConfig): Json | undefined {
  const id = parseGateId(gate.id)
  if (!id || !('entry' in id) || result === undefined) return undefined
  const entry = entries.find((each) => each.entryId === id.entry && !inProgress(each))
  return entry && variableAt(entry, `${result}.http_request.body`)
}

/** Drops the oldest past a bound: such an answer is too late then, as for every other process. */
function remember(lost: LostAnswers, key: string): void {
  lost.delete(key)
  lost.add(key)
  for (const oldest of lost) {
    if (lost.size <= MOST_LOST) return
    lost.delete(oldest)
  }
}

function lostKey(run: RunRef, gate: Gate, payload: JsonObject): string {
  return canonicalJson([run.id, gate.id, payload])
}

function failed(code: RunbridgeError['code'], message: string): AnswerResult {
  return { kind: 'failed', error: new RunbridgeError(code, message) }
}
