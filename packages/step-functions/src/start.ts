import { DescribeExecutionCommand, StartExecutionCommand } from '@aws-sdk/client-sfn'
import {
  byteLength,
  type CallContext,
  canonicalJson,
  type FindResult,
  type JsonObject,
  RunbridgeError,
  type StartResult,
} from '@runbridge/core'
import { executionArn, type StateMachineName } from './arn.js'
import { bound, denied, type Engine } from './engine.js'
import { didNothing, type EngineRequest, engineError, errorName } from './errors.js'
import { parseJson } from './failure.js'
import type { StepFunctionsWorkflow } from './workflow.js'

/** https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html: bytes of UTF-8. */
export const INPUT_LIMIT_BYTES = 262_144

/** The input as AWS gets it: equal inputs are equal texts, as AWS compares them; or why it can't be sent. */
export function inputText(input: JsonObject): string | RunbridgeError {
  const text = canonicalJson(input)
  const bytes = byteLength(text)
  if (bytes <= INPUT_LIMIT_BYTES) return text
  const message = `The arguments have ${bytes} bytes as JSON, and Step Functions takes ${INPUT_LIMIT_BYTES}; pass a reference to larger data.`
  return new RunbridgeError('too_large', message)
}

/** The answer of a start was lost, or says nothing about it. */
export function unknownOutcome(thrown: unknown, request: EngineRequest): RunbridgeError {
  const { message } = engineError(thrown, request)
  return new RunbridgeError('unknown_outcome', `${message} It may have started.`, { cause: thrown })
}

/**
 * StartExecution, once, named by the run key. While the execution runs, AWS answers the same name and input with
 * the same execution; after that with ExecutionAlreadyExists, which under our own key is our own run.
 */
export async function start(
  engine: Engine,
  workflow: StepFunctionsWorkflow,
  runKey: string,
  input: JsonObject,
  context: CallContext,
): Promise<StartResult> {
  const machine = bound(engine, workflow)
  if (machine instanceof RunbridgeError) return { kind: 'refused', error: machine }
  const text = inputText(input)
  if (text instanceof RunbridgeError) return { kind: 'refused', error: text }
  const command = new StartExecutionCommand({ stateMachineArn: workflow.id, name: runKey, input: text })
  const request = { action: 'states:StartExecution', resource: workflow.id }
  try {
    const { executionArn: id } = await engine.clients.starts.send(command, { abortSignal: context.signal })
    if (id !== undefined) return { kind: 'started', run: { id, attempt: 0 } }
    return { kind: 'unknown', error: unknownOutcome(new Error('no ARN'), request) }
  } catch (thrown) {
    if (errorName(thrown) === 'ExecutionAlreadyExists') return adopt(engine, machine, runKey, text, context)
    if (didNothing(thrown)) return { kind: 'refused', error: engineError(thrown, request) }
    return { kind: 'unknown', error: unknownOutcome(thrown, request) }
  }
}

/** Ours if it has our input; an input that AWS does not show is ours too, since nobody else knows the key. */
async function adopt(
  engine: Engine,
  machine: StateMachineName,
  runKey: string,
  input: string,
  context: CallContext,
): Promise<StartResult> {
  const id = executionArn(machine, runKey)
  try {
    const command = new DescribeExecutionCommand({ executionArn: id })
    const existing = await engine.clients.writes.send(command, { abortSignal: context.signal })
    const same = existing.input === undefined || canonicalJson(parseJson(existing.input)) === input
    if (same) return { kind: 'started', run: { id, attempt: 0 } }
    const message = `An execution named ${runKey} is already there with another input; start again under a new name.`
    return { kind: 'refused', error: new RunbridgeError('conflict', message) }
  } catch (thrown) {
    return {
      kind: 'unknown',
      error: unknownOutcome(thrown, { action: 'states:DescribeExecution', resource: id }),
    }
  }
}

/** The execution has a known ARN, so it is asked for by it. What was started under the key is the first attempt. */
export async function find(
  engine: Engine,
  workflow: StepFunctionsWorkflow,
  runKey: string,
  context: CallContext,
): Promise<FindResult> {
  const machine = bound(engine, workflow)
  if (machine instanceof RunbridgeError) return { kind: 'unreadable', error: machine }
  const id = executionArn(machine, runKey)
  try {
    const command = new DescribeExecutionCommand({ executionArn: id, includedData: 'METADATA_ONLY' })
    await engine.clients.reads.send(command, { abortSignal: context.signal })
    return { kind: 'found', run: { id, attempt: 0 } }
  } catch (thrown) {
    if (errorName(thrown) === 'ExecutionDoesNotExist') return denied(engine, machine, context)
    const request = { action: 'states:DescribeExecution', resource: id }
    return { kind: 'unreadable', error: engineError(thrown, request) }
  }
}
