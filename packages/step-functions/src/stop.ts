import { DescribeExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn'
import { type CallContext, type CancelResult, RunbridgeError, type RunRef } from '@runbridge/core'
import { bound, type Engine } from './engine.js'
import { engineError } from './errors.js'
import { CANCELLED } from './failure.js'
import type { StepFunctionsWorkflow } from './workflow.js'

/**
 * StopExecution. AWS accepts it for an execution that has ended too, and stops a redrive that somebody else
 * began, so our attempt is looked at first.
 */
export async function stop(
  engine: Engine,
  workflow: StepFunctionsWorkflow,
  run: RunRef,
  reason: string,
  { signal }: CallContext,
): Promise<CancelResult> {
  const machine = bound(engine, workflow)
  if (machine instanceof RunbridgeError) return { kind: 'failed', error: machine }
  const client = engine.clients.writes
  const options = { abortSignal: signal }
  let action = 'states:DescribeExecution'
  try {
    const command = new DescribeExecutionCommand({ executionArn: run.id, includedData: 'METADATA_ONLY' })
    const { status, redriveCount } = await client.send(command, options)
    const over = status !== 'RUNNING' && status !== 'PENDING_REDRIVE'
    if (over || (redriveCount ?? 0) > run.attempt) return { kind: 'too_late' }
    action = 'states:StopExecution'
    await client.send(
      new StopExecutionCommand({ executionArn: run.id, error: CANCELLED, cause: reason }),
      options,
    )
    return { kind: 'sent' }
  } catch (thrown) {
    return { kind: 'failed', error: engineError(thrown, { action, resource: run.id }) }
  }
}
