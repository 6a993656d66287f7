import { type Log, RunbridgeError, type SecretStore, type TaskStore, toRunbridgeError } from '@runbridge/core'
import {
  createServer,
  type Route,
  type RunbridgeServer,
  resolveTool,
  type Tool,
  type ToolOptions,
} from '@runbridge/server'
import type { Config, ToolConfig } from './config/schema.js'
import { githubRoutes } from './engines/github-actions.js'
import { type EngineOptions, type Engines, openEngines } from './engines.js'
import { openStore } from './open-store.js'
import { version } from './version.js'

export interface ComposeOptions extends EngineOptions {
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

/**
 * Joins the server with the store, the backends and the tools that the configuration names. Asks the engine for
 * every workflow; throws a RunbridgeError that lists every tool that can't be served and why.
 */
export async function compose(config: Config, options: ComposeOptions): Promise<Composition> {
  const engines = openEngines(config.engines, options)
  try {
    const tools = toolsOrThrow(await resolveTools(config, engines, options.signal))
    const store = await openStore(config.store, options.log)
    try {
      return await joined(config, tools, store, engines, options)
    } catch (thrown) {
      await store.close()
      throw thrown
    }
  } catch (thrown) {
    await engines.close()
    throw thrown
  }
}

async function joined(
  config: Config,
  tools: readonly Tool[],
  store: TaskStore & SecretStore,
  engines: Engines,
  { log, audit }: ComposeOptions,
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
  const routes = githubRoutes(config.engines.githubActions, server.service)
  return { server, tools, routes, close }
}

export interface ResolvedTool {
  readonly config: ToolConfig
  /** The tool, or why it can't be served. */
  readonly outcome: Tool | RunbridgeError
}

/** Asks the engines for every workflow at the same time. */
export function resolveTools(config: Config, engines: Engines, signal: AbortSignal): Promise<ResolvedTool[]> {
  return Promise.all(
    config.tools.map(async (tool) => ({
      config: tool,
      outcome: await resolved(tool, engines, signal).catch(toRunbridgeError),
    })),
  )
}

async function resolved(tool: ToolConfig, engines: Engines, signal: AbortSignal): Promise<Tool> {
  const { stepFunctions, googleWorkflows, githubActions, input, output, ...rest } = tool
  const { backend, workflow } = await engines.bind(tool)
  const options: ToolOptions = {
    ...(rest as Omit<ToolOptions, 'backend' | 'workflow'>),
    backend,
    workflow,
    inputSchema: input,
    outputSchema: output,
  }
  return resolveTool(options, { signal })
}

function toolsOrThrow(resolved: readonly ResolvedTool[]): Tool[] {
  const errors = resolved.flatMap(({ outcome }) => (outcome instanceof RunbridgeError ? [outcome] : []))
  const [first] = errors
  if (first)
    throw new RunbridgeError(first.code, errors.map(({ message }) => message).join('\n'), { cause: first })
  return resolved.map(({ outcome }) => outcome as Tool)
}
