import { StartSyncExecutionCommand, type SyncExecutionStatus } from '@aws-sdk/client-sfn'
import {
  type CallContext,
  type CallResult,
  type JsonObject,
  RunbridgeError,
  type TerminalState,
} from '@runbridge/core'
import { bound, type Engine } from './engine.js'
import { didNothing, engineError } from './errors.js'
import { stateMachineUrl } from './links.js'
import { snapshotOf } from './snapshot.js'
import { inputText, unknownOutcome } from './start.js'
import type { StepFunctionsWorkflow } from './workflow.js'

const SYNC_STATES: Readonly<Record<SyncExecutionStatus, TerminalState>> = {
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  TIMED_OUT: 'timed_out',
}

/** StartSyncExecution, once: an Express start that is sent again runs again. It answers 200 for failures too. */
export async function call(
  engine: Engine,
  workflow: StepFunctionsWorkflow,
  input: JsonObject,
  { signal }: CallContext,
): Promise<CallResult> {
  const machine = bound(engine, workflow)
  if (machine instanceof RunbridgeError) return { kind: 'refused', error: machine }
  const text = inputText(input)
  if (text instanceof RunbridgeError) return { kind: 'refused', error: text }
  const request = { action: 'states:StartSyncExecution', resource: workflow.id }
  try {
    const command = new StartSyncExecutionCommand({ stateMachineArn: workflow.id, input: text })
    const execution = await engine.clients.sync.send(command, { abortSignal: signal })
    const { status } = execution
    if (status === undefined || !Object.hasOwn(SYNC_STATES, status)) {
      const message = `Step Functions ended ${workflow.id} with a status that is not known here: ${status}.`
      return { kind: 'unknown', error: new RunbridgeError('unknown_outcome', message) }
    }
    const snapshot = snapshotOf(execution, { place: machine, state: SYNC_STATES[status] })
    const url = stateMachineUrl(machine, machine.unqualified)
    const links = url === undefined ? [] : [{ title: 'State machine in the AWS console', url }]
    return { kind: 'ended', snapshot: { ...snapshot, links } }
  } catch (thrown) {
    if (didNothing(thrown)) return { kind: 'refused', error: engineError(thrown, request) }
    return { kind: 'unknown', error: unknownOutcome(thrown, request) }
  }
}
