import { type JsonObject, type JsonSchema, MAX_TASK_ID, type ToolResult } from '@runbridge/core'
import type { App } from './app.js'
import type { InputRequired, Round } from './ask.js'
import type { Caller } from './caller.js'
import type { ToolAnnotations } from './tool.js'

/** A tool of ours by which callers without tasks go on with a run. */
export interface FollowUp {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly annotations: ToolAnnotations
  /** Never held back by the bound on calls under way: it is how one gets out of them. */
  readonly urgent: boolean
  /** Whether this server has what the tool needs; it is neither listed nor callable otherwise. Default: it has. */
  readonly offered?: (app: Pick<App, 'tools' | 'store'>) => boolean
  readonly run: (
    app: App,
    args: JsonObject,
    caller: Caller,
    round: Round,
  ) => Promise<ToolResult | InputRequired>
}

export const TASK_ID: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_TASK_ID,
  description: 'The task id, as given.',
}

export const READ_ONLY: ToolAnnotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false }
