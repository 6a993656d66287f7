import { type CallContext, RunbridgeError } from '@runbridge/core'
import { contentSchema, repositorySchema, workflowSchema } from './api.js'
import type { Engine } from './engine.js'
import { engineError } from './errors.js'
import { parseTrigger, type Trigger } from './input-schema.js'
import { readKept } from './request.js'
import type { GitHubActionsWorkflow, WorkflowName } from './workflow.js'

/** Throws a RunbridgeError when the workflow can't be read. */
export async function readWorkflow(engine: Engine, name: WorkflowName, { signal }: CallContext) {
  const { owner, repo, file } = name
  const asked = { what: `the workflow ${file} of ${owner}/${repo}`, permission: 'Actions: read' }
  try {
    const data = await readKept(engine, {
      ...asked,
      client: engine.clients.reads,
      route: 'GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}',
      path: { owner, repo, workflow_id: file },
      signal,
    })
    return workflowSchema.parse(data)
  } catch (thrown) {
    throw engineError(thrown, asked, engine.now())
  }
}

async function defaultBranch(engine: Engine, name: WorkflowName, { signal }: CallContext): Promise<string> {
  const { owner, repo } = name
  const asked = { what: `the repository ${owner}/${repo}`, permission: 'Metadata: read' }
  try {
    const data = await readKept(engine, {
      ...asked,
      client: engine.clients.reads,
      route: 'GET /repos/{owner}/{repo}',
      path: { owner, repo },
      signal,
    })
    return repositorySchema.parse(data).default_branch
  } catch (thrown) {
    throw engineError(thrown, asked, engine.now())
  }
}

/** The ref that runs when a call names none; `repository_dispatch` always runs the default branch. */
export async function defaultRef(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  name: WorkflowName,
  context: CallContext,
): Promise<string> {
  const [first] = workflow.repositoryDispatch === undefined ? (workflow.refs ?? []) : []
  return first ?? (await defaultBranch(engine, name, context))
}

/** What the workflow file says at the ref that will run. Throws a RunbridgeError when it can't be read or started. */
export async function readTrigger(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  name: WorkflowName,
  ref: string,
  { signal }: CallContext,
): Promise<Trigger> {
  const { owner, repo, file } = name
  const where = `${file} of ${owner}/${repo} at ${ref}`
  const asked = { what: `the file ${where}`, permission: 'Contents: read' }
  let data: unknown
  try {
    data = await readKept(engine, {
      ...asked,
      client: engine.clients.reads,
      route: 'GET /repos/{owner}/{repo}/contents/{path}',
      path: { owner, repo, path: `.github/workflows/${file}` },
      query: { ref },
      signal,
    })
  } catch (thrown) {
    throw engineError(thrown, asked, engine.now())
  }
  const { content, encoding } = contentSchema.parse(data)
  if (encoding !== 'base64') {
    throw new RunbridgeError('too_large', `GitHub does not give the content of ${where}; it is too large.`)
  }
  const trigger = parseTrigger(Buffer.from(content, 'base64').toString('utf8'), workflow, where)
  engine.findable.set(workflow.id, trigger.findable)
  return trigger
}
