import { type CallContext, type CancelResult, isTerminal, RunbridgeError, type RunRef } from '@runbridge/core'
import { bound, type Engine } from './engine.js'
import { EngineFailure } from './engine-failure.js'
import { engineError } from './errors.js'
import { stateOf } from './states.js'
import type { GoogleWorkflow } from './workflow.js'

/** CancelExecution. Google keeps no reason and refuses it for an execution that has ended. */
export async function stop(
  engine: Engine,
  workflow: GoogleWorkflow,
  run: RunRef,
  { signal }: CallContext,
): Promise<CancelResult> {
  const name = bound(workflow)
  if (name instanceof RunbridgeError) return { kind: 'failed', error: name }
  let permission = 'workflows.executions.cancel'
  try {
    await engine.clients.writes.cancel(run.id, signal)
    return { kind: 'sent' }
  } catch (thrown) {
    if (thrown instanceof EngineFailure && thrown.status === 'FAILED_PRECONDITION') {
      try {
        if (await hasEnded(engine, run, signal)) return { kind: 'too_late' }
      } catch (unread) {
        permission = 'workflows.executions.get'
        return { kind: 'failed', error: engineError(unread, { permission, resource: run.id }) }
      }
    }
    return { kind: 'failed', error: engineError(thrown, { permission, resource: run.id }) }
  }
}

async function hasEnded({ clients, warn }: Engine, run: RunRef, signal: AbortSignal): Promise<boolean> {
  const state = stateOf((await clients.writes.get(run.id, signal)).state, warn)
  return state !== 'unreadable' && isTerminal(state)
}
