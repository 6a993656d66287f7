import { DescribeStateMachineCommand } from '@aws-sdk/client-sfn'
import { type CallContext, RunbridgeError, toRunbridgeError } from '@runbridge/core'
import { describableArn, parseStateMachineArn, type StateMachineName } from './arn.js'
import type { StepFunctionsClient, StepFunctionsClients } from './clients.js'
import { engineError } from './errors.js'
import type { MapRunBudget } from './map-run-budget.js'
import type { StepFunctionsWorkflow } from './workflow.js'

/** What the parts of the backend share. */
export interface Engine {
  readonly clients: StepFunctionsClients
  readonly warn: (message: string) => void
  readonly mapRuns: MapRunBudget
}

/** The names in the workflow's ARN, or why nothing can be asked about it. */
export function bound(
  engine: Pick<Engine, 'clients'>,
  workflow: StepFunctionsWorkflow,
): StateMachineName | RunbridgeError {
  try {
    const machine = parseStateMachineArn(workflow.id)
    const region = engine.clients.region
    if (region === undefined || region === machine.region) return machine
    return new RunbridgeError(
      'misconfigured',
      `${workflow.id} is in ${machine.region}, and this server talks to Step Functions in ${region}; set that region for the engine.`,
    )
  } catch (thrown) {
    return toRunbridgeError(thrown)
  }
}

export function describeStateMachine(
  client: StepFunctionsClient,
  machine: StateMachineName,
  { signal }: CallContext,
) {
  const command = new DescribeStateMachineCommand({ stateMachineArn: describableArn(machine) })
  return client.send(command, { abortSignal: signal })
}

/**
 * AWS denies an execution. That counts only while it shows the state machine: with the wrong account, region or
 * credentials everything seems not to exist.
 */
export async function denied(
  engine: Engine,
  machine: StateMachineName,
  context: CallContext,
): Promise<{ kind: 'absent' } | { kind: 'unreadable'; error: RunbridgeError }> {
  try {
    await describeStateMachine(engine.clients.reads, machine, context)
    return { kind: 'absent' }
  } catch (thrown) {
    const request = { action: 'states:DescribeStateMachine', resource: machine.unqualified }
    return { kind: 'unreadable', error: engineError(thrown, request) }
  }
}
