/** Where the emulator's workflows live. */
export interface Place {
  readonly project: string
  readonly location: string
}

export interface ExecutionName extends Place {
  readonly workflow: string
  readonly execution: string
}

const ID = '[^/:]+'
const LOCATION = new RegExp(`^projects/(${ID})/locations/(${ID})$`)
const WORKFLOW = new RegExp(`^projects/(${ID})/locations/(${ID})/workflows/(${ID})$`)
const EXECUTION = new RegExp(`^projects/(${ID})/locations/(${ID})/workflows/(${ID})/executions/(${ID})$`)

function locationName({ project, location }: Place): string {
  return `projects/${project}/locations/${location}`
}

export function workflowName(place: Place, workflow: string): string {
  return `${locationName(place)}/workflows/${workflow}`
}

export function isLocationName(name: string): boolean {
  return LOCATION.test(name)
}

export function isWorkflowName(name: string): boolean {
  return WORKFLOW.test(name)
}

export function parseExecutionName(name: string): ExecutionName | undefined {
  const [, project, location, workflow, execution] = EXECUTION.exec(name) ?? []
  if (!project || !location || !workflow || !execution) return undefined
  return { project, location, workflow, execution }
}
