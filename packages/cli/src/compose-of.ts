import { type Log, RunbridgeError, type SecretStore, type TaskStore, toRunbridgeError } from '@runbridge/core'
import {
  createServer,
  type ResolveContext,
  type Route,
  type RunbridgeServer,
  resolveTool,
  type Tool,
  type ToolOptions,
} from '@runbridge/server'
import type { Config, ToolConfig } from './config/schema.js'
import type { BoundEngines } from './engines/bound.js'

export interface CompositionOptions {
  readonly log?: Log
  /** Told who called, answered and cancelled what. Default: silent. */
  readonly audit?: Log
  /** Ends the questions to the engines. */
  readonly signal: AbortSignal
}

export interface Composition {
  readonly server: RunbridgeServer
  readonly tools: readonly Tool[]
  /** What is served beside MCP, such as webhooks. */
  readonly routes: readonly Route[]
  /** Ends gracefully: what is under way is finished, then the store and the connections close. */
  close(): Promise<void>
}

/** What a composition is made of. What opens them decides which engines and stores a bundle holds. */
export interface Parts {
  readonly engines: BoundEngines<ToolConfig>
  readonly openStore: () => Promise<TaskStore & SecretStore>
  /** What clients are told of this program. */
  readonly version: string
  /** Whether the process stands still between requests: see `RunbridgeOptions`. Default false. */
  readonly freezes?: boolean
  /** Whether the schemas of the tools were checked before: see `ResolveContext`. Default false. */
  readonly schemasChecked?: boolean
}

/**
 * `compose` with other parts: an engine that the configuration names and that is not among them is refused by it. In a
 * file of its own, so that a bundle with other parts reaches none of the engines and stores of `compose`.
 */
export async function composeOf(
  config: Config,
  { engines, openStore, version, freezes = false, schemasChecked = false }: Parts,
  options: CompositionOptions,
): Promise<Composition> {
  // At the same time: on Lambda the first caller waits for both.
  const [resolved, opened] = await Promise.allSettled([
    resolveTools(config, engines, { signal: options.signal, schemasChecked }).then(toolsOrThrow),
    openStore(),
  ])
  try {
    if (resolved.status === 'rejected') throw resolved.reason
    if (opened.status === 'rejected') throw opened.reason
    return await joined(config, resolved.value, opened.value, engines, { ...options, version, freezes })
  } catch (thrown) {
    if (opened.status === 'fulfilled') await opened.value.close()
    await engines.close()
    throw thrown
  }
}

async function joined(
  config: Config,
  tools: readonly Tool[],
  store: TaskStore & SecretStore,
  engines: BoundEngines<ToolConfig>,
  {
    log,
    audit,
    version,
    freezes,
  }: Pick<CompositionOptions, 'log' | 'audit'> & Required<Pick<Parts, 'version' | 'freezes'>>,
): Promise<Composition> {
  const { name, title, instructions, secret, limits } = config.server
  const noEvents = store.lacks?.byRun
  if (noEvents !== undefined && config.engines.githubActions?.webhook) {
    const problem = 'engines.githubActions.webhook finds no task to tell'
    throw new RunbridgeError('misconfigured', `${problem}: ${noEvents}. Remove it, or name another store.`)
  }
  const server = createServer({
    tools,
    store,
    requestStateKey:
      secret === undefined ? await store.secret('request-state') : new TextEncoder().encode(secret),
    name,
    version,
    limits,
    freezes,
    ...(title !== undefined && { title }),
    ...(instructions !== undefined && { instructions }),
    ...(log && { log }),
    ...(audit && { audit }),
  })
  const close = async () => {
    await server.close()
    await store.close()
    await engines.close()
  }
  return { server, tools, routes: engines.routes(server.service), close }
}

export interface ResolvedTool {
  readonly config: ToolConfig
  /** The tool, or why it can't be served. */
  readonly outcome: Tool | RunbridgeError
}

/** Asks the engines for every workflow at the same time. */
export function resolveTools(
  config: Config,
  engines: BoundEngines<ToolConfig>,
  context: ResolveContext,
): Promise<ResolvedTool[]> {
  return Promise.all(
    config.tools.map(async (tool) => ({
      config: tool,
      outcome: await resolved(tool, engines, context).catch(toRunbridgeError),
    })),
  )
}

async function resolved(
  tool: ToolConfig,
  engines: BoundEngines<ToolConfig>,
  context: ResolveContext,
): Promise<Tool> {
  const { stepFunctions, googleWorkflows, githubActions, input, output, ...rest } = tool
  const { backend, workflow } = await engines.bind(tool)
  const options: ToolOptions = {
    ...(rest as Omit<ToolOptions, 'backend' | 'workflow'>),
    backend,
    workflow,
    inputSchema: input,
    outputSchema: output,
  }
  return resolveTool(options, context)
}

function toolsOrThrow(resolved: readonly ResolvedTool[]): Tool[] {
  const errors = resolved.flatMap(({ outcome }) => (outcome instanceof RunbridgeError ? [outcome] : []))
  const [first] = errors
  if (first)
    throw new RunbridgeError(first.code, errors.map(({ message }) => message).join('\n'), { cause: first })
  return resolved.map(({ outcome }) => outcome as Tool)
}
