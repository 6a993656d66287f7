import { parse } from 'yaml'
import { repositoryBody, repositoryUrl, workflowBody } from '../bodies.js'
import { apiError, notFound, unprocessable } from '../errors.js'
import { fileAt, type Repository, type RepositoryWorkflow } from '../repository.js'
import type { Run } from '../run.js'
import { runSite } from '../run-bodies.js'
import { type Call, type Operation, ok, pageOf, type Reply } from './operation.js'

type Declared = Readonly<Record<string, { readonly required?: boolean; readonly default?: unknown } | null>>

interface WorkflowFile {
  readonly on?: unknown
  readonly 'run-name'?: string
}

export const getRepository: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}',
  answer: ({ state, repository }) => ok(repositoryBody(state.place, repository)),
}

export const getContent: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/contents/{path}',
  needs: ['contents', 'read'],
  answer({ state, repository, params, query }) {
    const ref = query.get('ref') ?? repository.defaultBranch
    const path = params.path ?? ''
    const workflow = repository.workflows.find(({ fileName }) => path === `.github/workflows/${fileName}`)
    const text = workflow && repository.refs.includes(ref) ? fileAt(workflow, ref) : undefined
    if (text === undefined) throw notFound()
    const url = `${repositoryUrl(state.place, repository)}/contents/${path}?ref=${ref}`
    const data = Buffer.from(text)
    const links = { git: url, html: `${state.place.html}/${path}`, self: url }
    return ok({
      type: 'file',
      encoding: 'base64',
      size: data.length,
      name: path.split('/').at(-1),
      path,
      content: data.toString('base64'),
      sha: String(data.length),
      url,
      git_url: links.git,
      html_url: links.html,
      download_url: null,
      _links: links,
    })
  },
}

export const getWorkflow: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/workflows/{workflow_id}',
  needs: ['actions', 'read'],
  answer: (call) => ok(workflowBody(call.state.place, call.repository, workflowOf(call))),
}

export const listWorkflows: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/workflows',
  needs: ['actions', 'read'],
  answer({ state, repository, query }) {
    const workflows = pageOf(repository.workflows, query)
    return ok({
      total_count: repository.workflows.length,
      workflows: workflows.map((workflow) => workflowBody(state.place, repository, workflow)),
    })
  },
}

export const createWorkflowDispatch: Operation = {
  method: 'POST',
  path: '/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches',
  needs: ['actions', 'write'],
  answer(call) {
    const { state, repository, body } = call
    const workflow = workflowOf(call)
    const { ref, inputs = {}, return_run_details: details } = body
    if (state.dispatch === 'none' && details !== undefined) {
      throw apiError(422, 'Invalid request.\n\n"return_run_details" is not a permitted key.')
    }
    const limit = state.dispatch === 'none' ? 10 : 25
    if (Object.keys(inputs as object).length > limit) {
      throw apiError(
        422,
        `Invalid request.\n\nNo more than ${limit} properties are allowed; ${Object.keys(inputs as object).length} were supplied.`,
      )
    }
    if ((workflow.state ?? 'active') !== 'active') {
      throw unprocessable(`Cannot trigger a 'workflow_dispatch' on a disabled workflow`)
    }
    if (typeof ref !== 'string' || !repository.refs.includes(ref))
      throw unprocessable(`No ref found for: ${ref}`)
    const file = parse(fileAt(workflow, ref) ?? '') as WorkflowFile | null
    const given = inputsOf(file, inputs as Readonly<Record<string, unknown>>)
    const title = titleOf(file, { inputs: given }, workflow)
    const run = begin(call, workflow, { event: 'workflow_dispatch', ref, title, inputs: given })
    const wanted = state.dispatch === 'always' || (state.dispatch === 'details' && details === true)
    return wanted ? ok(runDetails(call, run)) : { status: 204 }
  },
}

export const createDispatchEvent: Operation = {
  method: 'POST',
  path: '/repos/{owner}/{repo}/dispatches',
  needs: ['contents', 'write'],
  answer(call): Reply {
    const { repository, body } = call
    const { event_type: type, client_payload: payload = {} } = body
    if (typeof type !== 'string') throw unprocessable('Invalid request.\n\n"event_type" wasn\'t supplied.')
    if (Object.keys(payload as object).length > 10) {
      throw unprocessable('Invalid request.\n\nNo more than 10 properties are allowed.')
    }
    const ref = repository.defaultBranch
    for (const workflow of repository.workflows) {
      const file = parse(fileAt(workflow, ref) ?? '') as WorkflowFile | null
      const trigger = (file?.on as { repository_dispatch?: { types?: string[] } } | undefined)
        ?.repository_dispatch
      if (trigger === undefined || (trigger?.types && !trigger.types.includes(type))) continue
      const inputs = payload as Readonly<Record<string, unknown>>
      const title = titleOf(file, { payload: inputs }, workflow)
      begin(call, workflow, { event: 'repository_dispatch', ref, title, inputs })
    }
    return { status: 204 }
  },
}

export function workflowOf({ repository, params }: Pick<Call, 'repository' | 'params'>): RepositoryWorkflow {
  const { workflow_id: name = '' } = params
  const found = repository.workflows.find(({ id, fileName }) => fileName === name || String(id) === name)
  if (!found) throw notFound()
  return found
}

function runDetails({ state, repository }: Call, run: Run) {
  return {
    workflow_run_id: run.id,
    run_url: `${repositoryUrl(state.place, repository)}/actions/runs/${run.id}`,
    html_url: runSite(state.place, run),
  }
}

function inputsOf(file: WorkflowFile | null, given: Readonly<Record<string, unknown>>) {
  const on = file?.on as { workflow_dispatch?: { inputs?: Declared } | null } | undefined
  const triggers = typeof on === 'string' ? [on] : Array.isArray(on) ? on : Object.keys(on ?? {})
  if (!triggers.includes('workflow_dispatch')) {
    throw unprocessable("Workflow does not have 'workflow_dispatch' trigger")
  }
  const declared: Declared = on?.workflow_dispatch?.inputs ?? {}
  const unexpected = Object.keys(given).filter((name) => !Object.hasOwn(declared, name))
  if (unexpected.length > 0) {
    throw unprocessable(`Unexpected inputs provided: ${JSON.stringify(unexpected)}`)
  }
  const inputs: Record<string, unknown> = {}
  for (const [name, input] of Object.entries(declared)) {
    const value = given[name] ?? input?.default
    if (value === undefined && input?.required) throw unprocessable(`Required input '${name}' not provided`)
    inputs[name] = value === undefined ? '' : value
  }
  return inputs
}

/** The few expressions that a `run-name` needs here. */
function titleOf(
  file: WorkflowFile | null,
  from: { inputs?: Readonly<Record<string, unknown>>; payload?: Readonly<Record<string, unknown>> },
  workflow: RepositoryWorkflow,
): string {
  const value = (path: string): string => {
    const [, source, name = ''] =
      /^(?:(inputs|github\.event\.inputs|github\.event\.client_payload))\.([\w-]+)$/.exec(path) ?? []
    return String((source?.endsWith('client_payload') ? from.payload : from.inputs)?.[name] ?? '')
  }
  const name = file?.['run-name']
  if (name === undefined) return workflow.fileName.replace(/\.ya?ml$/, '')
  return name.replace(/\$\{\{\s*([\w.-]+)\s*\}\}/g, (_, path: string) => value(path))
}

/** What a start says of the new run. */
export interface Beginning extends Pick<Run, 'event' | 'ref' | 'title' | 'inputs'> {}

export function begin(
  {
    state,
    repository,
    token,
  }: { state: Call['state']; repository: Repository; token: Pick<Call['token'], 'login'> },
  workflow: RepositoryWorkflow,
  beginning: Beginning,
): Run {
  const run: Run = {
    ...beginning,
    id: 7_000_000_000 + state.nextId(),
    number: [...repository.runs.values()].filter((each) => each.workflow === workflow).length + 1,
    repository,
    workflow,
    login: token.login,
    attempts: [{ number: 1, startedAt: state.now(), reviews: [] }],
    hiddenLooks: 0,
  }
  repository.runs.set(run.id, run)
  return run
}
