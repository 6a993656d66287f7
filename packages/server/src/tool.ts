import { isJsonObject, type Json, type JsonSchema, type TaskTool, type Workflow } from '@runbridge/core'

/** MCP tool annotations (2026-07-28 schema, `ToolAnnotations`): hints, never promises. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** A question put to the caller before anything starts (multi round-trip, 2026-07-28 basic/utilities/mrtr). */
export interface Confirm {
  /** What the person reads; `{name}` stands for the argument `name`. */
  readonly message: string
  /** The key of the input request. Default `confirm`. */
  readonly key?: string
}

/** How a required argument that the caller left out is asked for, instead of refusing the call. */
export interface AskFor {
  readonly message: string
  /** The key of the input request. Default: the argument's name. */
  readonly key?: string
}

/** How a tool watches runs that were started elsewhere, instead of starting its own. */
export interface Attach {
  /** The argument that names the run. */
  readonly argument: string
  /** Whether a cancel of the task may stop the run. */
  readonly cancel: boolean
}

/** One MCP tool: the binding to a workflow, and how it shows itself to clients. */
export interface Tool<W extends Workflow = Workflow> extends TaskTool<W> {
  readonly attach?: Attach
  readonly title?: string
  readonly description: string
  readonly annotations?: ToolAnnotations
  /** JSON Schema 2020-12 of the arguments, an object. */
  readonly inputSchema: JsonSchema
  /** Declared only to clients that will get the whole result: those with tasks. */
  readonly outputSchema?: JsonSchema
  /**
   * `forbidden`: synchronous, never a task (only for workflows that execute as a `call`). `optional`: a task
   * for clients that have them, a bounded hold for others. `required`: refused to clients without tasks.
   */
  readonly taskSupport: 'forbidden' | 'optional' | 'required'
  readonly confirm?: Confirm
  /** What the token of a caller needs, all of it, to start this tool's runs and to answer their questions. Default: nothing. */
  readonly scopes?: readonly string[]
  /** By argument name. */
  readonly askFor?: Readonly<Record<string, AskFor>>
  /**
   * What happens where gates are on and the caller can't be asked. `refuse`: the call is refused before it
   * starts. `show`: the task shows `working` and says who must answer where.
   */
  readonly unanswerable: 'refuse' | 'show'
  /** How long a call of a client without tasks is held before it is answered with a task id, in ms. */
  readonly holdMs: number
  /**
   * What becomes of the run when a client without tasks takes its call back by `notifications/cancelled` while it is
   * held. `continue`: only the waiting ends. `cancel`: the run is asked to stop; many hosts send that at their own
   * time-out too, so keep `holdMs` below theirs. A lost connection never stops a run.
   */
  readonly onAbandon: 'continue' | 'cancel'
  /** The text of the result instead of the output's JSON; `{path.to.value}` stands for a part of the output. */
  readonly resultText?: string
}

/** The schema of one argument, where the input schema names it as a property. */
export function argumentSchema(tool: Pick<Tool, 'inputSchema'>, name: string): Json | undefined {
  const { properties } = tool.inputSchema
  return isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
}
