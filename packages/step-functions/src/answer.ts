import { SendTaskFailureCommand, SendTaskSuccessCommand } from '@aws-sdk/client-sfn'
import {
  type AnswerResult,
  type CallContext,
  canonicalJson,
  type Gate,
  type GateResponse,
  RunbridgeError,
  type RunRef,
} from '@runbridge/core'
import type { StepFunctionsClient } from './clients.js'
import { engineError, errorName } from './errors.js'
import { DECLINED, parseJson } from './failure.js'
import { goesOn, waitsForToken } from './follow-history.js'
import { eventOfGate, parametersOf } from './gates.js'
import { type Event, isEnd, previousOf, readBack } from './history.js'
import { taskToken } from './task-token.js'
import type { StepFunctionsWorkflow } from './workflow.js'

/** The token no longer counts, or never did; the history tells what happened. */
const CLOSED = ['TaskTimedOut', 'TaskDoesNotExist', 'InvalidToken']

export interface Answering {
  readonly client: StepFunctionsClient
  readonly workflow: StepFunctionsWorkflow
  /** The state machine without version or alias: what the permission is on. */
  readonly stateMachineArn: string
  readonly run: RunRef
  readonly gate: Gate
  readonly response: GateResponse
  readonly context: CallContext
}

/**
 * Delivers an answer by the task's token, which is read from the history for this and kept nowhere. An answer that
 * AWS no longer takes may be our own that arrived before: what closed the task decides.
 */
export async function answerGate(answering: Answering): Promise<AnswerResult> {
  const { run, gate, workflow, stateMachineArn } = answering
  const scheduledId = eventOfGate(gate.id)
  if (scheduledId === undefined) return failed('invalid_input', `There is no gate ${gate.id} in this run.`)
  let since: Event[]
  try {
    since = await eventsSince(answering, scheduledId)
  } catch (thrown) {
    return { kind: 'failed', error: engineError(thrown, historyOf(run)) }
  }
  const scheduled = since[0]
  if (scheduled?.id !== scheduledId || !waitsForToken(scheduled)) {
    return failed('invalid_input', `There is no gate ${gate.id} in this run.`)
  }
  const closed = judge(since, answering.response)
  if (closed) return closed
  const config = workflow.gates?.[gate.step]
  const token = taskToken(parametersOf(scheduled), config ? config.tokenField : undefined)
  if (token === undefined) return failed('misconfigured', noToken(gate))
  const action = answering.response.action === 'accept' ? 'states:SendTaskSuccess' : 'states:SendTaskFailure'
  try {
    await send(answering, token)
    return { kind: 'delivered' }
  } catch (thrown) {
    if (!CLOSED.includes(errorName(thrown))) {
      return { kind: 'failed', error: engineError(thrown, { action, resource: stateMachineArn }) }
    }
    return refused(answering, scheduledId, errorName(thrown))
  }
}

async function send({ client, response, context }: Answering, taskToken: string): Promise<void> {
  const options = { abortSignal: context.signal }
  if (response.action === 'accept') {
    await client.send(
      new SendTaskSuccessCommand({ taskToken, output: canonicalJson(response.content) }),
      options,
    )
  } else {
    const cause = 'The person who was asked declined.'
    await client.send(new SendTaskFailureCommand({ taskToken, error: DECLINED, cause }), options)
  }
}

function eventsSince({ client, run, context }: Answering, id: number): Promise<Event[]> {
  const read = { client, executionArn: run.id, signal: context.signal, data: true, pageSize: 100 }
  return readBack(read, (event) => event.id <= id)
}

/** AWS did not take the token: by whom the task was closed, as the history has it. */
async function refused(answering: Answering, scheduledId: number, error: string): Promise<AnswerResult> {
  const { run, gate, response } = answering
  try {
    const closed = judge(await eventsSince(answering, scheduledId), response)
    if (closed) return closed
  } catch (thrown) {
    return { kind: 'failed', error: engineError(thrown, historyOf(run)) }
  }
  if (error === 'InvalidToken') return failed('misconfigured', noToken(gate))
  return failed(
    'unknown_outcome',
    `AWS no longer takes an answer at ${gate.step} (${error}), and the history does not tell why yet.`,
  )
}

/** What closed the task that the first event scheduled, seen from our answer; undefined while it is open. */
function judge(since: readonly Event[], response: GateResponse): AnswerResult | undefined {
  let tail = since[0]?.id
  for (const event of since.slice(1)) {
    if (isEnd(event)) return { kind: 'too_late' }
    if (previousOf(event) !== tail) continue
    if (!goesOn(event)) return { kind: isOurs(event, response) ? 'delivered' : 'too_late' }
    tail = event.id
  }
  return undefined
}

function isOurs(event: Event, response: GateResponse): boolean {
  if (response.action === 'decline') {
    const error = event.taskFailedEventDetails?.error ?? event.lambdaFunctionFailedEventDetails?.error
    return error === DECLINED
  }
  const output = event.taskSucceededEventDetails?.output ?? event.lambdaFunctionSucceededEventDetails?.output
  return output !== undefined && canonicalJson(parseJson(output)) === canonicalJson(response.content)
}

function historyOf(run: RunRef) {
  return { action: 'states:GetExecutionHistory', resource: run.id }
}

function noToken({ step }: Gate): string {
  return `The parameters of state ${step} do not show one task token; pass $$.Task.Token in them, and name its field as tokenField in the tool's gates if there are several.`
}

function failed(code: RunbridgeError['code'], message: string): AnswerResult {
  return { kind: 'failed', error: new RunbridgeError(code, message) }
}
