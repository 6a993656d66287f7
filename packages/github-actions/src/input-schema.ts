import { isJsonObject, type Json, type JsonObject, type JsonSchema, RunbridgeError } from '@runbridge/core'
import { parse } from 'yaml'
import { DEFAULT_REF_ARGUMENT, DEFAULT_RUN_KEY_INPUT, type GitHubActionsWorkflow } from './workflow.js'

/** https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#onworkflow_dispatchinputs */
const MAX_INPUTS = 25
/** https://docs.github.com/en/rest/repos/repos#create-a-repository-dispatch-event */
const MAX_PAYLOAD_MEMBERS = 10
/** Of all inputs, or of the payload, as JSON. */
const MAX_CHARACTERS = 65_535

/** What a workflow file says about its starts. */
export interface Trigger {
  /** JSON Schema of the arguments. */
  readonly schema: JsonSchema
  /** Whether a run shows its key: the key has a place in what is sent, and `run-name` shows it. */
  readonly findable: boolean
  /** Whether the key can be sent at all. */
  readonly takesKey: boolean
}

/** Throws `misconfigured` for a file that can't be started this way. `where` names it and its ref for messages. */
export function parseTrigger(text: string, workflow: GitHubActionsWorkflow, where: string): Trigger {
  let file: unknown
  try {
    file = parse(text, { maxAliasCount: 100 })
  } catch (cause) {
    throw new RunbridgeError('misconfigured', `${where} is no YAML that can be read.`, { cause })
  }
  if (!isJsonObject(file)) throw new RunbridgeError('misconfigured', `${where} is no workflow file.`)
  const runName = typeof file['run-name'] === 'string' ? file['run-name'] : ''
  return workflow.repositoryDispatch === undefined
    ? dispatchTrigger(file, runName, workflow, where)
    : repositoryTrigger(file, runName, workflow, where)
}

function dispatchTrigger(
  file: JsonObject,
  runName: string,
  workflow: GitHubActionsWorkflow,
  where: string,
): Trigger {
  const on = eventOf(file, 'workflow_dispatch')
  if (on === undefined) {
    throw new RunbridgeError(
      'misconfigured',
      `${where} has no \`workflow_dispatch\` trigger, so nothing can start it; add \`on: workflow_dispatch\`.`,
    )
  }
  const declared = isJsonObject(on) && isJsonObject(on.inputs) ? on.inputs : {}
  const names = Object.keys(declared)
  if (names.length > MAX_INPUTS) {
    throw new RunbridgeError(
      'misconfigured',
      `${where} declares ${names.length} inputs; GitHub takes ${MAX_INPUTS}.`,
    )
  }
  const key = workflow.runKeyInput ?? DEFAULT_RUN_KEY_INPUT
  const takesKey = names.includes(key)
  return {
    schema: withRefs(schemaOf(declared, key), workflow, where),
    takesKey,
    findable: takesKey && shows(runName, `(?:inputs|github\\.event\\.inputs)\\.${escaped(key)}`),
  }
}

function repositoryTrigger(
  file: JsonObject,
  runName: string,
  workflow: GitHubActionsWorkflow,
  where: string,
): Trigger {
  const on = eventOf(file, 'repository_dispatch')
  const types = isJsonObject(on) ? on.types : undefined
  const named = types === undefined || types === workflow.repositoryDispatch
  if (on === undefined || !(named || (Array.isArray(types) && types.includes(workflow.repositoryDispatch)))) {
    throw new RunbridgeError(
      'misconfigured',
      `${where} is not started by a \`repository_dispatch\` of type ${JSON.stringify(workflow.repositoryDispatch)}; add the type to its trigger.`,
    )
  }
  const key = workflow.runKeyInput ?? DEFAULT_RUN_KEY_INPUT
  return {
    schema: { type: 'object' },
    takesKey: true,
    findable: shows(runName, `github\\.event\\.client_payload\\.${escaped(key)}`),
  }
}

/** `on: push`, `on: [push, …]` and `on: { push: … }`; null where it has nothing to say. */
function eventOf(file: JsonObject, event: string): Json | undefined {
  const { on } = file
  if (on === event || (Array.isArray(on) && on.includes(event))) return null
  return isJsonObject(on) && Object.hasOwn(on, event) ? (on[event] ?? null) : undefined
}

function shows(runName: string, expression: string): boolean {
  const inside = '(?:(?!\\}\\}).)*'
  return new RegExp(`\\$\\{\\{${inside}\\b${expression}(?![\\w-])`).test(runName)
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function schemaOf(declared: JsonObject, key: string): JsonSchema {
  const properties: Record<string, JsonSchema> = {}
  const required: string[] = []
  for (const [name, input] of Object.entries(declared)) {
    if (name === key) continue
    const { type, description, default: preset, options, required: must } = isJsonObject(input) ? input : {}
    properties[name] = {
      ...shapeOf(type, options),
      ...(typeof description === 'string' && { description }),
      ...(preset !== undefined && preset !== null && { default: typed(preset, type) }),
    }
    if (must === true && (preset === undefined || preset === null)) required.push(name)
  }
  return {
    type: 'object',
    properties,
    additionalProperties: false,
    ...(required.length > 0 && { required }),
  }
}

/** An input without a type is a string. */
function shapeOf(type: Json | undefined, options: Json | undefined): JsonSchema {
  switch (type) {
    case 'boolean':
      return { type: 'boolean' }
    case 'number':
      return { type: 'number' }
    case 'choice':
      return { type: 'string', ...(Array.isArray(options) && { enum: options.map(String) }) }
    case 'environment':
      return { type: 'string', title: 'Name of an environment' }
    default:
      return { type: 'string' }
  }
}

/** YAML may hold `'true'` for a boolean and 1 for a string. */
function typed(preset: Json, type: Json | undefined): Json {
  if (type === 'boolean') return preset === true || preset === 'true'
  if (type === 'number') return Number(preset)
  return typeof preset === 'string' ? preset : JSON.stringify(preset)
}

/** Several refs become an argument, so that nothing outside of the list can be run. */
function withRefs(schema: JsonSchema, workflow: GitHubActionsWorkflow, where: string): JsonSchema {
  const { refs = [], refArgument = DEFAULT_REF_ARGUMENT } = workflow
  if (refs.length < 2) return schema
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  if (Object.hasOwn(properties, refArgument)) {
    throw new RunbridgeError(
      'misconfigured',
      `${where} has an input ${refArgument}, which would choose the ref too; name another \`refArgument\`.`,
    )
  }
  const ref = {
    type: 'string',
    enum: refs,
    default: refs[0],
    description: 'The branch or tag whose workflow runs',
  }
  return { ...schema, properties: { ...properties, [refArgument]: ref } }
}

/** The inputs as GitHub takes them: texts alone. Throws where they don't fit its limits. */
export function inputsOf(
  input: JsonObject,
  key: { readonly name: string; readonly value: string } | undefined,
) {
  const inputs: Record<string, string> = {}
  for (const [name, value] of Object.entries(input)) {
    if (value !== undefined && value !== null) {
      inputs[name] = typeof value === 'string' ? value : JSON.stringify(value)
    }
  }
  if (key) inputs[key.name] = key.value
  checkSize(inputs, MAX_INPUTS, 'inputs')
  return inputs
}

/** The payload of a `repository_dispatch`. Throws where it doesn't fit GitHub's limits. */
export function payloadOf(
  input: JsonObject,
  key: { readonly name: string; readonly value: string },
): JsonObject {
  const payload = { ...input, [key.name]: key.value }
  checkSize(payload, MAX_PAYLOAD_MEMBERS, 'members')
  return payload
}

function checkSize(values: JsonObject, most: number, what: string): void {
  const count = Object.keys(values).length
  if (count > most) {
    throw new RunbridgeError(
      'too_large',
      `There are ${count} ${what} (the run key is one), and GitHub takes ${most}.`,
    )
  }
  const characters = JSON.stringify(values).length
  if (characters > MAX_CHARACTERS) {
    throw new RunbridgeError(
      'too_large',
      `The arguments have ${characters} characters as JSON, and GitHub takes ${MAX_CHARACTERS}; pass a reference to larger data.`,
    )
  }
}
