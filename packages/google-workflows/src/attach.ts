import { type AttachResult, type CallContext, type ErrorCode, oneLine, RunbridgeError } from '@runbridge/core'
import { bound, deniedRun, type Engine } from './engine.js'
import { engineError, isNotFound } from './errors.js'
import { type ExecutionName, executionName, parseExecutionName, type WorkflowName } from './resource-name.js'
import type { GoogleWorkflow } from './workflow.js'

export const REFERENCES =
  'the name of an execution (projects/PROJECT/locations/LOCATION/workflows/WORKFLOW/executions/EXECUTION) or the address of its page in the Google Cloud console'

const CONSOLE = 'https://console.cloud.google.com'
const CONSOLE_PATH = /^\/workflows\/workflow\/([^/]+)\/([^/]+)\/execution\/([^/]+)/
/** Google names a project by its number where it was asked for by its id. */
const PROJECT_NUMBER = /^\d+$/

/** The execution, if it is one of the workflow. Asked as a write is, so that polls never hold it up. */
export async function attach(
  engine: Engine,
  workflow: GoogleWorkflow,
  reference: string,
  context: CallContext,
): Promise<AttachResult> {
  const name = bound(workflow)
  if (name instanceof RunbridgeError) return { kind: 'refused', error: name }
  const shown = oneLine(reference, 300)
  const execution = executionOf(reference.trim())
  if (!execution) return refused('invalid_input', `${JSON.stringify(shown)} is not ${REFERENCES}.`)
  if (!isOf(name, execution)) {
    return refused('invalid_input', `${shown} is no execution of ${workflow.id}, which this tool watches.`)
  }
  const id = executionName(workflow.id, execution.execution)
  try {
    await engine.clients.writes.get(id, context.signal)
    return { kind: 'attached', run: { id, attempt: 0 } }
  } catch (thrown) {
    if (isNotFound(thrown)) return absent(engine, workflow, id, context)
    const request = { permission: 'workflows.executions.get', resource: id }
    return { kind: 'refused', error: engineError(thrown, request) }
  }
}

function executionOf(reference: string): ExecutionName | undefined {
  if (!reference.startsWith(`${CONSOLE}/`) || !URL.canParse(reference)) return parseExecutionName(reference)
  const url = new URL(reference)
  const [, location, workflow, execution] = CONSOLE_PATH.exec(url.pathname) ?? []
  const project = url.searchParams.get('project')
  return parseExecutionName(
    `projects/${project}/locations/${location}/workflows/${workflow}/executions/${execution}`,
  )
}

/** Told from the names alone, so that nothing is asked about executions that are none of this tool's. */
function isOf(workflow: WorkflowName, execution: ExecutionName): boolean {
  const sameProject = execution.project === workflow.project || PROJECT_NUMBER.test(execution.project)
  return sameProject && execution.location === workflow.location && execution.workflow === workflow.workflow
}

async function absent(
  engine: Engine,
  workflow: GoogleWorkflow,
  id: string,
  context: CallContext,
): Promise<AttachResult> {
  const result = await deniedRun(engine, workflow, context)
  if (result.kind === 'unreadable') return { kind: 'refused', error: result.error }
  return refused(
    'invalid_input',
    `Google knows no execution ${id}; check its name, or that it is not older than 90 days.`,
  )
}

function refused(code: ErrorCode, message: string): AttachResult {
  return { kind: 'refused', error: new RunbridgeError(code, message) }
}
