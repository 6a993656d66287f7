import { type CallContext, type JsonObject, RunbridgeError, toRunbridgeError } from '@runbridge/core'
import type { GoogleWorkflowsClients } from './clients.js'
import { engineError } from './errors.js'
import { parseWorkflowName, type WorkflowName } from './resource-name.js'
import type { GoogleWorkflow } from './workflow.js'

/** What the parts of the backend share. */
export interface Engine {
  readonly clients: GoogleWorkflowsClients
  readonly warn: (message: string) => void
}

/** The parts of the workflow's name, or why nothing can be asked about it. */
export function bound({ id }: GoogleWorkflow): WorkflowName | RunbridgeError {
  try {
    return parseWorkflowName(id)
  } catch (thrown) {
    return toRunbridgeError(thrown)
  }
}

/** The workflow as it is deployed. Throws `EngineFailure`. */
export function getWorkflow({ clients }: Engine, id: string, { signal }: CallContext): Promise<JsonObject> {
  return clients.rest.send({ api: 'workflows', method: 'GET', path: id }, signal)
}

/**
 * Google denies an execution. That counts only while it shows the workflow: in the wrong project or without the
 * permission everything seems not to exist.
 */
export async function deniedRun(
  engine: Engine,
  workflow: GoogleWorkflow,
  context: CallContext,
): Promise<{ kind: 'absent' } | { kind: 'unreadable'; error: RunbridgeError }> {
  try {
    await getWorkflow(engine, workflow.id, context)
    return { kind: 'absent' }
  } catch (thrown) {
    const request = { permission: 'workflows.workflows.get', resource: workflow.id }
    return { kind: 'unreadable', error: engineError(thrown, request) }
  }
}

export function unreadable(code: RunbridgeError['code'], message: string) {
  return { kind: 'unreadable', error: new RunbridgeError(code, message) } as const
}
