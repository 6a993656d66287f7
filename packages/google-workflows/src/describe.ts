import {
  type CallContext,
  type Capabilities,
  type DiscoveredWorkflow,
  isFormSchema,
  isJsonObject,
  type JsonObject,
  RunbridgeError,
  type WorkflowDescription,
} from '@runbridge/core'
import { bound, type Engine, getWorkflow } from './engine.js'
import { engineError } from './errors.js'
import { labelFilter, labelsOf } from './labels.js'
import { workflowUrl } from './links.js'
import type { GoogleWorkflow } from './workflow.js'

/** A lost start is found by its label; Google offers nothing to repeat one by. */
export const CAPABILITIES: Capabilities = {
  start: 'findable',
  cancel: true,
  gates: true,
  log: false,
  execution: 'run',
}

/** Google knows no schema of the argument; the workflow's description is what there is to go by. */
export async function describe(
  engine: Engine,
  workflow: GoogleWorkflow,
  context: CallContext,
): Promise<WorkflowDescription> {
  const name = bound(workflow)
  if (name instanceof RunbridgeError) throw name
  const labels = labelsOf(workflow.labels, '')
  if (labels instanceof RunbridgeError) throw labels
  checkGates(workflow)
  const deployed = await getWorkflow(engine, workflow.id, context).catch((thrown) => {
    throw engineError(thrown, { permission: 'workflows.workflows.get', resource: workflow.id })
  })
  const { description, revisionId } = deployed
  if (workflow.revision !== undefined && revisionId !== workflow.revision) {
    engine.warn(
      `${workflow.id} is deployed as revision ${String(revisionId)}, and the tool is pinned to ${workflow.revision}: it will refuse to start.`,
    )
  }
  return {
    title: name.workflow,
    ...(typeof description === 'string' && description !== '' && { description }),
    ...(typeof revisionId === 'string' && { revision: revisionId }),
    consoleUrl: workflowUrl(workflow.id),
    capabilities: CAPABILITIES,
  }
}

/** What can't be asked or answered would only show when a run waits. */
function checkGates({ gates = {}, historyLevel }: GoogleWorkflow): void {
  for (const [step, gate] of Object.entries(gates)) {
    if (gate.schema !== undefined && !isFormSchema(gate.schema)) {
      throw new RunbridgeError(
        'misconfigured',
        `The schema of the answer at ${JSON.stringify(step)} is no flat object of primitive properties, which is all that a form can ask for.`,
      )
    }
    const variables = gate.urlVariable ?? gate.promptVariable ?? gate.result
    if (variables !== undefined && historyLevel !== 'detailed') {
      throw new RunbridgeError(
        'misconfigured',
        `The gate at ${JSON.stringify(step)} reads variables, which Google keeps only at the detailed level; write \`historyLevel: detailed\`.`,
      )
    }
  }
}

/**
 * All workflows of a location, to the last page.
 * @param filter `{ project, location, labels }`: where, and the labels that they must have
 */
export async function* discover(
  { clients }: Engine,
  { project, location, labels }: JsonObject,
  { signal }: CallContext,
): AsyncGenerator<DiscoveredWorkflow, void, undefined> {
  if (typeof project !== 'string' || typeof location !== 'string') {
    throw new RunbridgeError('misconfigured', 'Workflows are listed in one project and location; name both.')
  }
  const parent = `projects/${project}/locations/${location}`
  const terms = Object.entries(isJsonObject(labels) ? labels : {})
  const filter = terms.map(([key, value]) => labelFilter(key, String(value))).join(' AND ')
  let pageToken = ''
  do {
    const query = {
      pageSize: '500',
      ...(filter !== '' && { filter }),
      ...(pageToken !== '' && { pageToken }),
    }
    const path = `${parent}/workflows`
    const page = await clients.rest
      .send({ api: 'workflows', method: 'GET', path, query }, signal)
      .catch((thrown) => {
        throw engineError(thrown, { permission: 'workflows.workflows.list', resource: parent })
      })
    for (const listed of Array.isArray(page.workflows) ? page.workflows : []) {
      if (!isJsonObject(listed) || typeof listed.name !== 'string') continue
      const id = `${parent}/workflows/${listed.name.split('/').at(-1)}`
      const links = [{ title: 'Workflow in the Google Cloud console', url: workflowUrl(id) }]
      yield { id, title: listed.name.split('/').at(-1) ?? '', links }
    }
    pageToken = typeof page.nextPageToken === 'string' ? page.nextPageToken : ''
  } while (pageToken !== '')
}
