import {
  type Backend,
  isJsonObject,
  type JsonSchema,
  RunbridgeError,
  toRunbridgeError,
  type Workflow,
  type WorkflowDescription,
} from '@runbridge/core'
import { elicitableSchema } from './elicitable.js'
import { FOLLOW_UPS } from './follow-up.js'
import { compileSchema } from './json-schema.js'
import { abandonConflict } from './on-abandon.js'
import { argumentSchema, type Tool } from './tool.js'
import { attachConflict, watching } from './watching.js'

type Shown = Pick<
  Tool,
  | 'title'
  | 'annotations'
  | 'outputSchema'
  | 'confirm'
  | 'askFor'
  | 'resultText'
  | 'inputSchema'
  | 'description'
  | 'idempotencyKey'
  | 'scopes'
>
type Chosen = Pick<
  Tool,
  'taskSupport' | 'humanInput' | 'unanswerable' | 'holdMs' | 'retainMs' | 'progress' | 'onAbandon'
>

/** A tool as it is configured. What is left out comes from the workflow itself, or from the defaults. */
export type ToolOptions<W extends Workflow = Workflow> = {
  readonly name: string
  readonly backend: Backend<W>
  readonly workflow: W
  /**
   * The tool starts nothing: it takes the reference of a run of the workflow and watches it. The run is named by its
   * one argument, `run`, or the one string that `inputSchema` has. Default false.
   */
  readonly attach?: boolean | undefined
  /** Whether cancelling a task of an `attach` tool stops the run that somebody else started. Default false. */
  readonly cancelAttached?: boolean | undefined
} & { readonly [K in keyof Shown | keyof Chosen]?: Tool[K] | undefined }

/** `taskSupport` follows from how the workflow executes. Times in ms. */
export const TOOL_DEFAULTS: Omit<Chosen, 'taskSupport'> = {
  humanInput: 'off',
  unanswerable: 'refuse',
  holdMs: 45_000,
  retainMs: 86_400_000,
  progress: true,
  onAbandon: 'continue',
}

/** MCP 2026-07-28 server/tools, "Tool Names". */
const NAME = /^[A-Za-z0-9_.-]{1,128}$/
/** Hosts give up on a call after a minute or two. */
const MAX_HOLD_MS = 300_000

export interface ResolveContext {
  /** Ends the question to the engine. */
  readonly signal: AbortSignal
  /** Whether `compileSchema` has taken the tool's schemas before, in whatever process. Default false. */
  readonly schemasChecked?: boolean
}

/**
 * Asks the backend what the workflow is and makes the tool. Throws a RunbridgeError that names the tool:
 * `misconfigured` with what to write instead, or what `describe` threw.
 */
export async function resolveTool<W extends Workflow>(
  options: ToolOptions<W>,
  context: ResolveContext,
): Promise<Tool<W>> {
  const { name, backend, workflow } = options
  const wrong = (problem: string) => new RunbridgeError('misconfigured', `Tool ${name}: ${problem}`)
  if (!NAME.test(name)) throw wrong('the name must be 1 to 128 of the characters A-Z a-z 0-9 _ - .')
  if (FOLLOW_UPS.has(name)) throw wrong('this name belongs to a tool of Runbridge; choose another.')
  const described = await describe(options, context)
  const { capabilities } = described
  const watch = options.attach ? watching(options, described) : undefined
  if (options.cancelAttached !== undefined && !options.attach) {
    throw wrong('`cancelAttached` is only for tools with `attach: true`; leave it out.')
  }
  const description = watch?.description ?? options.description ?? described.description
  if (description === undefined || description.trim() === '') {
    throw wrong(
      'the workflow has no description of its own; write `description`, for the model to choose by.',
    )
  }
  const inputSchema = objectSchema(
    watch?.inputSchema ?? options.inputSchema ?? described.inputSchema ?? { type: 'object' },
  )
  const chosen = { ...TOOL_DEFAULTS, ...given(options) }
  const title = options.title ?? described.title
  const annotations = options.annotations ?? watch?.annotations
  const tool: Tool<W> = {
    ...chosen,
    name,
    backend,
    workflow,
    capabilities,
    description,
    inputSchema,
    taskSupport: options.taskSupport ?? (capabilities.execution === 'call' ? 'forbidden' : 'optional'),
    ...(title !== undefined && { title }),
    ...(annotations && { annotations }),
    ...(watch && { attach: watch.attach }),
    ...(options.idempotencyKey && { idempotencyKey: options.idempotencyKey }),
    ...(options.scopes && { scopes: options.scopes }),
    ...(options.outputSchema && { outputSchema: objectSchema(options.outputSchema) }),
    ...(options.confirm && { confirm: options.confirm }),
    ...(options.askFor && { askFor: options.askFor }),
    ...(options.resultText !== undefined && { resultText: options.resultText }),
  }
  const problem = conflicts(tool)
  if (problem !== undefined) throw wrong(problem)
  const { schemasChecked: checked = false } = context
  compileSchema(inputSchema, `Tool ${name}: the input schema`, { checked })
  if (tool.outputSchema) compileSchema(tool.outputSchema, `Tool ${name}: the output schema`, { checked })
  return tool
}

async function describe<W extends Workflow>(
  { name, backend, workflow }: ToolOptions<W>,
  context: { readonly signal: AbortSignal },
): Promise<WorkflowDescription> {
  try {
    // A signal of its own: SDKs listen to it once a request, and Node warns from the eleventh listener on.
    return await backend.describe(workflow, { signal: AbortSignal.any([context.signal]) })
  } catch (thrown) {
    const error = toRunbridgeError(thrown)
    throw new RunbridgeError(error.code, `Tool ${name}: ${error.message}`, { cause: thrown })
  }
}

function given(
  options: { readonly [K in keyof Chosen]?: Chosen[K] | undefined },
): Partial<Omit<Chosen, 'taskSupport'>> {
  const keys = ['humanInput', 'unanswerable', 'holdMs', 'retainMs', 'progress', 'onAbandon'] as const
  return Object.fromEntries(
    keys.filter((key) => options[key] !== undefined).map((key) => [key, options[key]]),
  )
}

/**
 * MCP wants `type: object` at the root (2026-07-28 schema, `Tool.inputSchema`; 2025-11-25 schema, `Tool.outputSchema`): a
 * client of 2025-11-25 refuses the whole list for one tool without it.
 */
function objectSchema(schema: JsonSchema): JsonSchema {
  return schema.type === undefined ? { ...schema, type: 'object' } : schema
}

/** What does not fit together, and what to write instead. */
function conflicts(tool: Tool): string | undefined {
  const { capabilities, taskSupport, humanInput, inputSchema, outputSchema, backend, holdMs, retainMs } = tool
  const sync = capabilities.execution === 'call'
  if (inputSchema.type !== 'object') return 'the input schema must have `type: object` at its root.'
  if (outputSchema && outputSchema.type !== 'object') {
    return 'the output schema must have `type: object` at its root: only objects are structured results; leave it out where the output is none.'
  }
  if (sync && taskSupport !== 'forbidden') {
    return `the workflow ends within one call and has nothing to follow (started without waiting for its end, it could not be read, found again or stopped), so \`taskSupport: ${taskSupport}\` can not hold; leave it out.`
  }
  if (!sync && taskSupport === 'forbidden') {
    return '`taskSupport: forbidden` is only for workflows that end within one call; write `optional` or `required`.'
  }
  if (humanInput !== 'off' && !capabilities.gates) {
    return `\`humanInput: ${humanInput}\` needs a workflow that can wait for a person, which ${backend.name} does not offer here; write \`off\`.`
  }
  if (!(holdMs >= 0 && holdMs <= MAX_HOLD_MS)) return `\`holdMs\` must be between 0 and ${MAX_HOLD_MS}.`
  if (!(retainMs >= 1000)) return '`retainMs` must be at least 1000, so that an end can be seen.'
  return attachConflict(tool) ?? abandonConflict(tool) ?? idempotencyConflict(tool) ?? askForConflict(tool)
}

function idempotencyConflict({ idempotencyKey, capabilities, attach, ...tool }: Tool): string | undefined {
  if (!idempotencyKey) return undefined
  if (attach) return '`idempotencyKey` is for tools that start runs; leave it out with `attach: true`.'
  if (capabilities.execution === 'call') {
    return '`idempotencyKey` needs a task that equal calls can get, and this workflow ends within one call; leave it out.'
  }
  if (idempotencyKey.length === 0)
    return '`idempotencyKey` is empty; name the arguments that make two calls equal.'
  const unknown = idempotencyKey.find((name) => argumentSchema(tool, name) === undefined)
  return unknown === undefined
    ? undefined
    : `\`idempotencyKey\` names ${unknown}, which is no argument of the input schema.`
}

function askForConflict(tool: Tool): string | undefined {
  const required = Array.isArray(tool.inputSchema.required) ? tool.inputSchema.required : []
  const keys = Object.entries(tool.askFor ?? {}).map(([name, ask]) => ask.key ?? name)
  if (tool.confirm) keys.push(tool.confirm.key ?? 'confirm')
  const twice = keys.find((key, index) => keys.indexOf(key) !== index)
  if (twice !== undefined)
    return `the key ${twice} is used for two questions; give one of them another \`key\`.`
  for (const name of Object.keys(tool.askFor ?? {})) {
    const schema = argumentSchema(tool, name)
    if (schema === undefined) return `\`askFor.${name}\` names no argument of the input schema.`
    if (!required.includes(name))
      return `\`askFor.${name}\`: only required arguments are asked for; add it to \`required\`.`
    if (!isJsonObject(schema) || !elicitableSchema(schema)) {
      return `\`askFor.${name}\`: a form can only ask for a string, number, integer or boolean that is no secret.`
    }
  }
  return undefined
}
