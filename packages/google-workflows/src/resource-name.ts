import { RunbridgeError } from '@runbridge/core'

/** The parts of `projects/PROJECT/locations/LOCATION/workflows/WORKFLOW`. */
export interface WorkflowName {
  /** An id or a number. */
  readonly project: string
  readonly location: string
  readonly workflow: string
}

export interface ExecutionName extends WorkflowName {
  readonly execution: string
}

/** https://docs.cloud.google.com/workflows/docs/reference/rest/v1/projects.locations.workflows/create: workflow ids. */
const ID = '[A-Za-z][A-Za-z0-9_-]{0,63}'
/** Project ids may carry a domain: `example.com:project`. */
const PROJECT = '[a-z0-9][a-z0-9.:-]*'
const WORKFLOW = new RegExp(`^projects/(${PROJECT})/locations/([a-z0-9-]+)/workflows/(${ID})$`)
const EXECUTION = new RegExp(
  `^projects/(${PROJECT})/locations/([a-z0-9-]+)/workflows/(${ID})/executions/([A-Za-z0-9_-]+)$`,
)

/** Throws `misconfigured` for anything but the full name of a workflow. */
export function parseWorkflowName(name: string): WorkflowName {
  const [, project, location, workflow] = WORKFLOW.exec(name) ?? []
  if (!project || !location || !workflow) {
    throw new RunbridgeError(
      'misconfigured',
      `${name} is not the name of a workflow; write projects/PROJECT/locations/LOCATION/workflows/WORKFLOW.`,
    )
  }
  return { project, location, workflow }
}

export function workflowName({ project, location, workflow }: WorkflowName): string {
  return `projects/${project}/locations/${location}/workflows/${workflow}`
}

export function parseExecutionName(name: string): ExecutionName | undefined {
  const [, project, location, workflow, execution] = EXECUTION.exec(name) ?? []
  if (!project || !location || !workflow || !execution) return undefined
  return { project, location, workflow, execution }
}

/**
 * An execution under the name of the workflow as it is configured: Google answers with the project's number where the
 * project's id was asked for, and one run needs one name.
 */
export function executionName(workflow: string, given: string): string {
  return `${workflow}/executions/${given.split('/').at(-1)}`
}

export function locationOf(workflow: string): string {
  return workflow.split('/').slice(0, 4).join('/')
}
