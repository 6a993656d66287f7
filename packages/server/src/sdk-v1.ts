import type {
  TaskRequestHandlerExtra,
  TaskStore,
} from '@modelcontextprotocol/sdk/experimental/tasks/interfaces.js'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CreateTaskResult } from '@modelcontextprotocol/sdk/types.js'
import { LOCAL_OWNER, type Owner, RunbridgeError, type ToolResult } from '@runbridge/core'
import { createTaskResult } from '@runbridge/core/wire/core-2025-11-25'
import * as z from 'zod'
import { appOf } from './app-of.js'
import { type CallRound, callTool, type TaskMaking } from './call-tool.js'
import { expiryOf } from './caller.js'
import type { RunbridgeServer } from './create-server.js'
import { retained } from './legacy/revisions.js'
import { AUDIENCE, FORM, taskStoreOf } from './sdk-v1-store.js'
import type { Tool } from './tool.js'

export interface RunbridgeTasksOptions {
  /**
   * Whose the tasks of a session are. The SDK tells its task store the session alone, so a server with several callers has
   * to know from it who they are. Default: everybody is the owner `local`; a call with a token is refused then.
   */
  readonly owner?: (session: { readonly sessionId?: string | undefined }) => Owner
}

export interface RunbridgeTasks {
  /** For the options of the `McpServer`, as `taskStore`. It holds our tasks and no others. */
  readonly taskStore: TaskStore
  /** Registers the tools: those that become tasks by the experimental `registerToolTask`, others as usual. */
  addTo(server: McpServer): void
}

type Extra = Pick<TaskRequestHandlerExtra, 'sessionId' | 'authInfo' | 'signal' | 'taskRequestedTtl'>
type TaskExtra = Extra & Pick<TaskRequestHandlerExtra, 'taskId'>

/**
 * The tools of a Runbridge server for an `McpServer` of @modelcontextprotocol/sdk 1.x, as tasks of 2025-11-25. A tool that
 * asks a person is refused there, or shows who must answer where, as it chooses.
 */
export function runbridgeTasks(
  runbridge: RunbridgeServer,
  options: RunbridgeTasksOptions = {},
): RunbridgeTasks {
  const { owner = () => LOCAL_OWNER } = options
  const app = appOf(runbridge)

  function call({ name }: Tool, args: object, extra: Extra, making?: TaskMaking) {
    if (extra.authInfo && !options.owner) throw new RunbridgeError('misconfigured', UNOWNED)
    const caller = {
      owner: owner(extra),
      era: 'legacy' as const,
      tasks: making !== undefined,
      elicitation: false,
      ...(extra.authInfo && { scopes: extra.authInfo.scopes }),
      ...expiryOf(extra.authInfo, app.clock),
      signal: extra.signal,
      withdrawn: () => false,
    }
    const request = { name, args: args as never, caller, round: ONE_ROUND }
    return callTool(app, making ? { ...request, making } : request)
  }

  async function create(tool: Tool, args: object, extra: Extra): Promise<CreateTaskResult> {
    const answer = await call(tool, args, extra, {
      request: { form: FORM, idKnown: true, ...retained(extra.taskRequestedTtl ?? undefined) },
      isError: () => false,
      answer: async (task) => ({ ...createTaskResult(task, AUDIENCE) }),
    })
    if ('task' in answer) return answer as unknown as CreateTaskResult
    // The SDK makes a tool result with `isError` of it.
    const [first] = (answer as ToolResult).content
    throw new Error(first?.type === 'text' ? first.text : `${tool.name} was not accepted as a task.`)
  }

  const taskStore = taskStoreOf(app, owner)
  return {
    taskStore,
    addTo(server) {
      for (const { tool } of app.tools.values()) register(server, tool)
    },
  }

  function register(server: McpServer, tool: Tool): void {
    const { name, taskSupport } = tool
    const config = shown(tool)
    if (taskSupport === 'forbidden') {
      server.registerTool(name, config, async (args, extra) => (await call(tool, args, extra)) as never)
      return
    }
    server.experimental.tasks.registerToolTask(
      name,
      { ...config, execution: { taskSupport } },
      {
        createTask: (args: unknown, extra: Extra) => create(tool, args as object, extra),
        getTask: async (_args: unknown, { taskId, sessionId }: TaskExtra) =>
          (await taskStore.getTask(taskId, sessionId)) as never,
        getTaskResult: async (_args: unknown, { taskId, sessionId }: TaskExtra) =>
          (await taskStore.getTaskResult(taskId, sessionId)) as never,
      },
    )
  }
}

/** The SDK wants a Zod schema and lists what it makes of it: this one is listed as the tool's own, and checks nothing. */
function shown({ title, description, inputSchema, annotations }: Tool) {
  return {
    ...(title !== undefined && { title }),
    description,
    inputSchema: z.looseObject({}).meta(inputSchema),
    ...(annotations && { annotations: { ...annotations } }),
  }
}

const UNOWNED =
  'Nothing was started: this server knows callers by tokens, and `owner` of runbridgeTasks does not say whose tasks a session has.'

const ONE_ROUND: CallRound = { hasState: false, inputResponses: undefined, open: never, seal: never }

async function never(): Promise<never> {
  throw new Error(
    'Runbridge keeps the tasks of its workflows and no others, and asks nobody through this server.',
  )
}
