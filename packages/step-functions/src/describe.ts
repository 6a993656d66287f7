import { ListStateMachinesCommand } from '@aws-sdk/client-sfn'
import {
  type CallContext,
  type Capabilities,
  type DiscoveredWorkflow,
  isFormSchema,
  isJsonObject,
  type Json,
  type JsonObject,
  RunbridgeError,
  type WorkflowDescription,
} from '@runbridge/core'
import { isAlias, parseStateMachineArn } from './arn.js'
import { bound, describeStateMachine, type Engine } from './engine.js'
import { engineError } from './errors.js'
import { parseJson } from './failure.js'
import { stateMachineUrl } from './links.js'
import type { StepFunctionsWorkflow } from './workflow.js'

/** The execution's name makes a start repeatable; AWS keeps it for 90 days after the end. */
export const STANDARD_CAPABILITIES: Capabilities = {
  start: 'idempotent',
  cancel: true,
  gates: true,
  log: false,
  execution: 'run',
}

/** An Express execution can't be described, stopped or found again, so it is only offered as one call. */
export const EXPRESS_CAPABILITIES: Capabilities = {
  start: 'blind',
  cancel: false,
  gates: false,
  log: false,
  execution: 'call',
}

export async function describe(
  engine: Engine,
  workflow: StepFunctionsWorkflow,
  context: CallContext,
): Promise<WorkflowDescription> {
  const machine = bound(engine, workflow)
  if (machine instanceof RunbridgeError) throw machine
  const described = await describeStateMachine(engine.clients.reads, machine, context).catch((thrown) => {
    throw engineError(thrown, { action: 'states:DescribeStateMachine', resource: machine.unqualified })
  })
  if (described.status === 'DELETING') {
    throw new RunbridgeError('workflow_not_found', `${workflow.id} is being deleted; nothing new can start.`)
  }
  const definition = described.definition === undefined ? undefined : parseJson(described.definition)
  const wrong = gatesProblem(workflow, definition)
  // An alias runs versions, and what was read is the definition that stands now.
  if (wrong?.states === 'missing' && isAlias(machine.qualifier)) engine.warn(wrong.message)
  else if (wrong) throw new RunbridgeError('misconfigured', wrong.message)
  const comment = isJsonObject(definition) ? definition.Comment : undefined
  const description = typeof comment === 'string' ? comment : described.description
  const consoleUrl = stateMachineUrl(machine, machine.unqualified)
  return {
    title: described.name ?? machine.name,
    ...(description !== undefined && description !== '' && { description }),
    ...(consoleUrl !== undefined && { consoleUrl }),
    capabilities: described.type === 'EXPRESS' ? EXPRESS_CAPABILITIES : STANDARD_CAPABILITIES,
  }
}

/** A question that can't be asked, or is bound to a state that is not there, would only show when it is late. */
function gatesProblem(
  { id, gates = {} }: StepFunctionsWorkflow,
  definition: Json | undefined,
): { readonly states?: 'missing'; readonly message: string } | undefined {
  const names = definition === undefined ? undefined : stateNames(definition)
  for (const [state, gate] of Object.entries(gates)) {
    if (gate !== false && gate.schema !== undefined && !isFormSchema(gate.schema)) {
      const message = `The schema of the answer at ${JSON.stringify(state)} is no flat object of primitive properties, which is all that a form can ask for.`
      return { message }
    }
  }
  const missing = Object.keys(gates).find((state) => names && !names.has(state))
  if (!names || missing === undefined) return undefined
  const message = `${id} has no state ${JSON.stringify(missing)} for a question; its states are ${[...names].join(', ')}.`
  return { states: 'missing', message }
}

/** Of all levels: branches and item processors have states of their own. */
function stateNames(value: Json | undefined, names = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) stateNames(item, names)
  if (!isJsonObject(value)) return names
  const { States: states } = value
  if (isJsonObject(states)) for (const name of Object.keys(states)) names.add(name)
  for (const member of Object.values(value)) stateNames(member, names)
  return names
}

/**
 * All state machines of the region, to the last page.
 * @param filter `{ prefix }`: only names that start with it
 */
export async function* discover(
  engine: Engine,
  filter: JsonObject,
  context: CallContext,
): AsyncGenerator<DiscoveredWorkflow, void, undefined> {
  const prefix = typeof filter.prefix === 'string' ? filter.prefix : ''
  let nextToken: string | undefined
  do {
    const command = new ListStateMachinesCommand({ maxResults: 1000, ...(nextToken && { nextToken }) })
    const page = await engine.clients.reads
      .send(command, { abortSignal: context.signal })
      .catch((thrown: unknown) => {
        throw engineError(thrown, { action: 'states:ListStateMachines', resource: '*' })
      })
    for (const { stateMachineArn: id, name } of page.stateMachines ?? []) {
      if (id === undefined || name === undefined || !name.startsWith(prefix)) continue
      const url = stateMachineUrl(parseStateMachineArn(id), id)
      const links = url === undefined ? [] : [{ title: 'State machine in the AWS console', url }]
      yield { id, title: name, links }
    }
    nextToken = page.nextToken
  } while (nextToken !== undefined)
}
