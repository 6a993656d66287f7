import type { Backend, RunbridgeError, TaskService, Workflow } from '@runbridge/core'
import type { Route, Tool } from '@runbridge/server'

/** A permission that a tool needs, and whether it is there. */
export interface Access {
  readonly access: 'allowed' | 'missing' | 'unsure'
  /** As the engine names it: an IAM action, a permission. */
  readonly permission: string
  readonly resource: string
  readonly why: string
  readonly note?: string
  /** Whose credentials were asked with, where it is not the server's own. */
  readonly as?: string
}

/** The workflow of one tool in its engine. */
export interface Bound {
  readonly backend: Backend
  readonly workflow: Workflow
  /** What `check` says of a tool that can be served. */
  describe(tool: Tool, signal: AbortSignal): string | Promise<string>
  /** Asks the engine for the permissions that the tool needs, by calls that can have no effect. */
  access(outcome: Tool | RunbridgeError, signal: AbortSignal): Promise<Access[]>
}

/** One kind of engine, opened when a tool first needs it. Binds a tool's own entry; throws `misconfigured`. */
export interface OpenEngine<Entry, ToolConfig> {
  bind(entry: Entry, tool: ToolConfig): Bound | Promise<Bound>
  /** Closes every connection. */
  close(): void | Promise<void>
}

/** The engines that a process serves. */
export interface BoundEngines<ToolConfig> {
  /** The tool's workflow in its engine. Throws `misconfigured` for a name that can be none. */
  bind(tool: ToolConfig): Promise<Bound>
  /** Where they tell what happened, such as webhooks. */
  routes(service: TaskService): readonly Route[]
  /** Closes every connection. */
  close(): Promise<void>
}

/** `tasks optional, asks a person by elicitation` */
export function manner({ taskSupport, humanInput }: Tool): string {
  const gates = humanInput === 'off' ? 'asks nobody' : `asks a person by ${humanInput}`
  return `tasks ${taskSupport}, ${gates}`
}
