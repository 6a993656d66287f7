import { apiError, invalid, notFound } from './errors.js'
import { createExecution, type Execution } from './execution.js'
import { isWorkflowName, type Place, parseExecutionName, workflowName } from './names.js'
import { HISTORY_LEVELS, type HistoryLevel, type SimulatedWorkflow } from './simulated.js'

export interface EmulatorState {
  readonly place: Place
  readonly now: () => number
  readonly newId: () => string
  /** Executions at the same time; those beyond are queued. */
  readonly maxConcurrent: number
  /** By full name. */
  readonly workflows: Map<string, SimulatedWorkflow>
  /** By full name, oldest first. */
  readonly executions: Map<string, Execution>
  /** Executions that lists leave out, with how many lists still do. */
  readonly hidden: Map<string, number>
  /** Where it listens. */
  url: string
}

export function workflowOf(
  state: EmulatorState,
  name: unknown,
): { name: string; workflow: SimulatedWorkflow } {
  if (typeof name !== 'string' || !isWorkflowName(name)) throw invalid(`"${String(name)}" is not a workflow.`)
  const workflow = state.workflows.get(name)
  if (!workflow) throw notFound('Workflow', name)
  return { name, workflow }
}

export function executionOf(state: EmulatorState, name: unknown): Execution {
  const parsed = typeof name === 'string' ? parseExecutionName(name) : undefined
  if (!parsed) throw invalid(`"${String(name)}" is not an execution.`)
  workflowOf(state, workflowName(parsed, parsed.workflow))
  const execution = state.executions.get(String(name))
  if (!execution) throw notFound('Execution', String(name))
  return execution
}

export interface NewExecution {
  readonly argument?: unknown
  readonly labels?: unknown
  readonly callLogLevel?: unknown
  readonly executionHistoryLevel?: unknown
}

/** In bytes: https://docs.cloud.google.com/workflows/quotas */
const ARGUMENT_LIMIT = 32_768
const LABEL_VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u
const LABEL_KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u
const LABEL_COUNT = 64

export function startExecution(state: EmulatorState, parent: unknown, given: NewExecution): Execution {
  const { name, workflow } = workflowOf(state, parent)
  const labels = { ...workflow.labels, ...checkedLabels(given.labels) }
  const execution = createExecution({
    name: `${name}/executions/${state.newId()}`,
    workflow,
    argument: checkedArgument(given.argument),
    labels,
    callLogLevel: String(given.callLogLevel ?? 'CALL_LOG_LEVEL_UNSPECIFIED'),
    historyLevel: historyLevel(given.executionHistoryLevel, workflow),
    now: state.now,
    callbackUrl: ({ id }) => `${state.url}/v1/${execution.name}/callbacks/${id}`,
    onEnd: () => beginQueued(state),
  })
  state.executions.set(execution.name, execution)
  beginQueued(state)
  return execution
}

function beginQueued(state: EmulatorState): void {
  const executions = [...state.executions.values()]
  let active = executions.filter((execution) => execution.state === 'ACTIVE').length
  for (const execution of executions) {
    if (execution.state !== 'QUEUED' || active >= state.maxConcurrent) continue
    active += 1
    execution.begin()
  }
}

function checkedArgument(argument: unknown): string {
  if (argument === undefined || argument === null || argument === '') return ''
  const text = String(argument)
  if (Buffer.byteLength(text) > ARGUMENT_LIMIT) throw invalid('The argument is larger than 32 KB.')
  try {
    JSON.parse(text)
  } catch {
    throw invalid('The argument is not JSON.')
  }
  return text
}

function checkedLabels(labels: unknown): Record<string, string> {
  const entries = Object.entries((labels ?? {}) as Record<string, unknown>)
  if (entries.length > LABEL_COUNT) throw invalid(`More than ${LABEL_COUNT} labels.`)
  for (const [key, value] of entries) {
    if (!LABEL_KEY.test(key) || !LABEL_VALUE.test(String(value)))
      throw invalid(`The label ${key} is invalid.`)
  }
  return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]))
}

function historyLevel(given: unknown, workflow: SimulatedWorkflow): HistoryLevel {
  const level = given === undefined || given === HISTORY_LEVELS[0] ? workflow.historyLevel : given
  const known = HISTORY_LEVELS.find((each) => each === (level ?? HISTORY_LEVELS[0]))
  if (!known) throw invalid(`The history level ${String(level)} is invalid.`)
  return known
}

export function cancelExecution(execution: Execution): Execution {
  if (execution.cancel()) return execution
  throw apiError('FAILED_PRECONDITION', `The execution ${execution.name} is not active.`)
}
