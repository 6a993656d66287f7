import { isJsonObject, type JsonSchema, type Workflow, type WorkflowDescription } from '@runbridge/core'
import type { ToolOptions } from './resolve-tool.js'
import type { Attach, Tool } from './tool.js'

const ARGUMENT = 'run'

/** How a tool that only watches shows itself, where its configuration leaves that open. */
export interface Watching extends Pick<Tool, 'description' | 'inputSchema' | 'annotations'> {
  readonly attach: Attach
}

export function watching<W extends Workflow>(
  options: ToolOptions<W>,
  described: WorkflowDescription,
): Watching {
  const { backend, workflow, cancelAttached: cancel = false, humanInput = 'off' } = options
  const takes = backend.references ?? 'the reference of a run'
  const name = options.title ?? described.title ?? workflow.id
  const inputSchema = options.inputSchema ?? {
    type: 'object',
    properties: { [ARGUMENT]: { type: 'string', minLength: 1, description: `The run: ${takes}.` } },
    required: [ARGUMENT],
    additionalProperties: false,
  }
  const description =
    options.description ??
    `Watches a run of ${name} that was started elsewhere, until its result. Takes ${takes}. Starts nothing.`
  const stops = cancel ? '' : '\nIt only watches: a cancel of its task does not stop the run.'
  return {
    attach: { argument: stringsOf(inputSchema)[0] ?? ARGUMENT, cancel },
    inputSchema,
    description: `${description}${stops}`,
    ...(!cancel && humanInput === 'off' && { annotations: { readOnlyHint: true } }),
  }
}

/** What does not fit a tool that watches, and what to write instead. */
export function attachConflict({ attach, backend, capabilities, inputSchema }: Tool): string | undefined {
  if (!attach) return undefined
  if (capabilities.execution === 'call') {
    return 'the workflow ends within one call, so there is nothing to watch; leave `attach` out.'
  }
  if (!backend.attach)
    return `${backend.name} can not watch runs that were started elsewhere; leave \`attach\` out.`
  const names = Object.keys(isJsonObject(inputSchema.properties) ? inputSchema.properties : {})
  const required = Array.isArray(inputSchema.required) ? inputSchema.required : []
  const fits = names.length === 1 && stringsOf(inputSchema).length === 1 && required.includes(attach.argument)
  return fits
    ? undefined
    : 'with `attach: true` the input is one required string, which names the run; leave the input schema out or write that one.'
}

function stringsOf({ properties }: JsonSchema): string[] {
  const entries = Object.entries(isJsonObject(properties) ? properties : {})
  return entries
    .filter(([, schema]) => isJsonObject(schema) && schema.type === 'string')
    .map(([name]) => name)
}
