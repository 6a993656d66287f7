import type {
  CallContext,
  Capabilities,
  DiscoveredWorkflow,
  JsonObject,
  WorkflowDescription,
} from '@runbridge/core'
import { RunbridgeError } from '@runbridge/core'
import { workflowsSchema } from './api.js'
import type { Engine } from './engine.js'
import { engineError } from './errors.js'
import { send } from './request.js'
import { type GitHubActionsWorkflow, parseWorkflowId } from './workflow.js'
import { defaultRef, readTrigger, readWorkflow } from './workflow-file.js'

/** A dispatch is never repeated; where the run shows its key, one whose answer was lost is found. */
function capabilitiesOf(engine: Engine, findable: boolean): Capabilities {
  return {
    start: findable ? 'findable' : 'blind',
    cancel: true,
    gates: engine.clients.reviewer !== undefined,
    log: true,
    execution: 'run',
  }
}

export async function describe(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  context: CallContext,
): Promise<WorkflowDescription> {
  const name = parseWorkflowId(workflow.id)
  const { owner, repo, file } = name
  if (file === '*') {
    return {
      title: `Runs of ${owner}/${repo}`,
      description: `Watches a run of any workflow of ${owner}/${repo}.`,
      consoleUrl: `https://${engine.clients.host}/${owner}/${repo}/actions`,
      capabilities: capabilitiesOf(engine, false),
    }
  }
  const described = await readWorkflow(engine, name, context)
  if (described.state !== 'active') {
    const message = `The workflow ${file} of ${owner}/${repo} is ${described.state}, so nothing can start it; enable it on GitHub.`
    throw new RunbridgeError('misconfigured', message)
  }
  const ref = await defaultRef(engine, workflow, name, context)
  const { schema, findable } = await readTrigger(engine, workflow, name, ref, context)
  return {
    title: described.name,
    inputSchema: schema,
    consoleUrl: described.html_url,
    capabilities: capabilitiesOf(engine, findable),
  }
}

const PAGE = 100

/**
 * All workflows of a repository, to the last page.
 * @param filter `{ repository: 'owner/repo' }`
 */
export async function* discover(
  engine: Engine,
  filter: JsonObject,
  { signal }: CallContext,
): AsyncGenerator<DiscoveredWorkflow, void, undefined> {
  const { owner, repo } = parseWorkflowId(`${filter.repository}/*`)
  const asked = { what: `the workflows of ${owner}/${repo}`, permission: 'Actions: read' }
  for (let page = 1; ; page += 1) {
    const answer = await send(engine, {
      ...asked,
      client: engine.clients.reads,
      route: 'GET /repos/{owner}/{repo}/actions/workflows',
      path: { owner, repo },
      query: { per_page: PAGE, page },
      signal,
    }).catch((thrown: unknown) => {
      throw engineError(thrown, asked, engine.now())
    })
    const { workflows, total_count: total } = workflowsSchema.parse(answer.data)
    for (const { path, name: title, html_url: url } of workflows) {
      const id = `${owner}/${repo}/${path.split('/').at(-1)}`
      yield { id, title, links: [{ title: 'Workflow on GitHub', url }] }
    }
    if (page * PAGE >= total || workflows.length === 0) return
  }
}
