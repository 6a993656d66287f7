import { parseWorkflowName } from './resource-name.js'

const CONSOLE = 'https://console.cloud.google.com/workflows/workflow'

export function executionUrl(workflow: string, execution: string): string {
  const { project, location, workflow: name } = parseWorkflowName(workflow)
  const id = execution.split('/').at(-1) ?? ''
  return `${CONSOLE}/${location}/${name}/execution/${id}/summary?project=${encodeURIComponent(project)}`
}

export function workflowUrl(workflow: string): string {
  const { project, location, workflow: name } = parseWorkflowName(workflow)
  return `${CONSOLE}/${location}/${name}/executions?project=${encodeURIComponent(project)}`
}
