import type { JsonObject, JsonSchema } from '@runbridge/core'
import { isJsonObject, toRunbridgeError } from '@runbridge/core'
import { parseWorkflowId } from '@runbridge/github-actions'
import { parseWorkflowName, workflowName } from '@runbridge/google-workflows'
import { parseStateMachineArn } from '@runbridge/step-functions'
import type { Problem } from './problems.js'
import type { ToolConfig } from './schema.js'
import { closest } from './suggest.js'

/** What must hold between the keys of one tool, and says what to write instead. Paths start at the tool. */
export function toolProblems(tool: ToolConfig): Problem[] {
  return [...workflowProblems(tool), ...gateProblems(tool), ...inputProblems(tool), ...questionProblems(tool)]
}

/** A name that was taken by an earlier entry. `names` by position; undefined where there is none. */
export function duplicateNames(names: readonly unknown[]): Problem[] {
  return names.flatMap((name, index) => {
    const first = names.indexOf(name)
    if (typeof name !== 'string' || first === index) return []
    return [{ path: ['tools', index, 'name'], message: `is the name of tools[${first}] too; choose another` }]
  })
}

function workflowProblems({ stepFunctions, googleWorkflows, githubActions }: ToolConfig): Problem[] {
  if (stepFunctions) {
    const { stateMachineArn } = stepFunctions
    return nameProblems(['stepFunctions', 'stateMachineArn'], stateMachineArn, parseStateMachineArn)
  }
  if (githubActions) {
    const { owner, repo, workflow } = githubActions
    return nameProblems(['githubActions'], `${owner}/${repo}/${workflow}`, parseWorkflowId)
  }
  if (!googleWorkflows) return []
  return nameProblems(['googleWorkflows'], workflowName(googleWorkflows), parseWorkflowName)
}

function nameProblems(path: readonly string[], name: string, parse: (name: string) => unknown): Problem[] {
  try {
    parse(name)
    return []
  } catch (thrown) {
    // The value may come from the environment, and no value is shown.
    return [{ path, message: toRunbridgeError(thrown).message.replace(`${name} `, '') }]
  }
}

function gateProblems(tool: ToolConfig): Problem[] {
  const problems: Problem[] = []
  const engine = tool.stepFunctions ? 'stepFunctions' : 'googleWorkflows'
  const gates = Object.entries(tool[engine]?.gates ?? {})
  const on = tool.humanInput !== 'off'
  if (gates.length > 0 && !on) {
    problems.push({
      path: [engine, 'gates'],
      atKey: true,
      message: 'has no effect: write `humanInput: elicitation` (a person answers) or `model`, or remove it',
    })
  }
  if (on && tool.googleWorkflows && gates.length === 0) {
    problems.push({
      path: ['humanInput'],
      message: 'needs steps to ask at: name them in `googleWorkflows.gates`, or write `humanInput: off`',
    })
  }
  if (on && tool.taskSupport === 'forbidden') {
    problems.push({
      path: ['humanInput'],
      message: 'needs a task to ask in: write `taskSupport: optional` or `required`, or `humanInput: off`',
    })
  }
  for (const [step, gate] of gates) {
    if (gate === false || gate.schema === undefined) continue
    problems.push(...flatSchemaProblems(gate.schema, [engine, 'gates', step, 'schema']))
  }
  return problems
}

function inputProblems(tool: ToolConfig): Problem[] {
  const problems: Problem[] = []
  for (const key of ['input', 'output'] as const) {
    const schema = tool[key]
    if (schema !== undefined && schema.type !== 'object') {
      problems.push({ path: [key], message: 'must describe an object: write `type: object` at its top' })
    }
  }
  return problems
}

function questionProblems(tool: ToolConfig): Problem[] {
  // The arguments are those of the workflow file then, and are compared when it has been read.
  if (tool.githubActions && tool.input === undefined) return []
  const properties = propertiesOf(tool.input)
  const names = Object.keys(properties)
  const problems: Problem[] = []
  for (const [, name] of tool.confirm?.message.matchAll(/\{([A-Za-z0-9_-]+)\}/g) ?? []) {
    if (name === undefined || names.includes(name)) continue
    problems.push({ path: ['confirm', 'message'], message: `names ${unknownArgument(name, names)}` })
  }
  for (const name of Object.keys(tool.askFor ?? {})) {
    const path = ['askFor', name]
    const schema = properties[name]
    if (!isJsonObject(schema)) {
      problems.push({ path, atKey: true, message: `is ${unknownArgument(name, names)}` })
    } else if (!asArray(tool.input?.required).includes(name)) {
      problems.push({
        path,
        atKey: true,
        message: `is optional: name it in \`input.required\` to have it asked`,
      })
    } else if (!isPrimitive(schema)) {
      problems.push({
        path,
        atKey: true,
        message: 'can’t be asked for: only strings, numbers and booleans can',
      })
    }
  }
  return problems
}

function unknownArgument(name: string, names: readonly string[]): string {
  const suggestion = closest(name, names)
  const hint = suggestion ? `did you mean \`${suggestion}\`?` : 'name it in `input.properties`'
  return `no argument of this tool; ${hint}`
}

/** Form elicitation takes flat objects with primitive properties only (2026-07-28 client/elicitation). */
function flatSchemaProblems(schema: JsonSchema, path: readonly string[]): Problem[] {
  if (schema.type !== 'object')
    return [{ path, message: 'must describe an object: write `type: object` at its top' }]
  return Object.entries(propertiesOf(schema))
    .filter(([, property]) => !isJsonObject(property) || !isPrimitive(property))
    .map(([name]) => ({
      path: [...path, 'properties', name],
      message: 'must be a string, number, integer or boolean: forms have no nested fields',
    }))
}

function isPrimitive(schema: JsonObject): boolean {
  return (
    ['string', 'number', 'integer', 'boolean'].includes(String(schema.type)) || Array.isArray(schema.enum)
  )
}

function propertiesOf(schema: JsonSchema | undefined): JsonObject {
  return isJsonObject(schema?.properties) ? schema.properties : {}
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
