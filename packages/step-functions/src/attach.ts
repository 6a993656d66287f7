import { DescribeExecutionCommand, type DescribeExecutionCommandOutput } from '@aws-sdk/client-sfn'
import { type AttachResult, type CallContext, type ErrorCode, oneLine, RunbridgeError } from '@runbridge/core'
import { isAlias, parseExecutionArn, type StateMachineName } from './arn.js'
import { bound, denied, type Engine } from './engine.js'
import { engineError, errorName } from './errors.js'
import type { StepFunctionsWorkflow } from './workflow.js'

export const REFERENCES =
  'the ARN of an execution (arn:aws:states:REGION:ACCOUNT:execution:STATE_MACHINE:NAME)'

/**
 * The execution in its present attempt, if it is one of the workflow's state machine, and of its version or alias
 * where the workflow names one. Asked as a write is, so that polls never hold it up.
 */
export async function attach(
  engine: Engine,
  workflow: StepFunctionsWorkflow,
  reference: string,
  context: CallContext,
): Promise<AttachResult> {
  const machine = bound(engine, workflow)
  if (machine instanceof RunbridgeError) return { kind: 'refused', error: machine }
  const id = reference.trim()
  const foreign = notOf(machine, id)
  if (foreign !== undefined) return refused('invalid_input', foreign)
  try {
    const command = new DescribeExecutionCommand({ executionArn: id, includedData: 'METADATA_ONLY' })
    const execution = await engine.clients.writes.send(command, { abortSignal: context.signal })
    const other = notThrough(workflow, machine, execution)
    if (other !== undefined) return refused('invalid_input', other)
    return { kind: 'attached', run: { id, attempt: execution.redriveCount ?? 0 } }
  } catch (thrown) {
    if (errorName(thrown) === 'ExecutionDoesNotExist') return absent(engine, machine, id, context)
    const request = { action: 'states:DescribeExecution', resource: id }
    return { kind: 'refused', error: engineError(thrown, request) }
  }
}

/** Told from the ARN alone, so that nothing is asked about executions that are none of this tool's. */
function notOf(machine: StateMachineName, id: string): string | undefined {
  const shown = oneLine(id, 300)
  if (/^arn:[\w-]+:states:[a-z0-9-]+:\d+:express:/.test(id)) {
    return `${shown} is an Express execution, which can't be watched.`
  }
  const place = parseExecutionArn(id)
  if (!place) return `${JSON.stringify(shown)} is not ${REFERENCES}.`
  const same =
    place.partition === machine.partition &&
    place.region === machine.region &&
    place.account === machine.account &&
    place.stateMachine === machine.name
  return same ? undefined : `${shown} is no execution of ${machine.unqualified}, which this tool watches.`
}

function notThrough(
  { id }: StepFunctionsWorkflow,
  { qualifier }: StateMachineName,
  execution: DescribeExecutionCommandOutput,
): string | undefined {
  if (qualifier === undefined) return undefined
  const { stateMachineAliasArn, stateMachineVersionArn, executionArn } = execution
  const through = isAlias(qualifier) ? stateMachineAliasArn : stateMachineVersionArn
  return through === id
    ? undefined
    : `${executionArn} was not started through ${id}, which this tool watches.`
}

async function absent(
  engine: Engine,
  machine: StateMachineName,
  id: string,
  context: CallContext,
): Promise<AttachResult> {
  const result = await denied(engine, machine, context)
  if (result.kind === 'unreadable') return { kind: 'refused', error: result.error }
  return refused(
    'invalid_input',
    `AWS knows no execution ${id}; check its name, or that it is not older than 90 days.`,
  )
}

function refused(code: ErrorCode, message: string): AttachResult {
  return { kind: 'refused', error: new RunbridgeError(code, message) }
}
