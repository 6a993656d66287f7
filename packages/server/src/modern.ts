import { Server, type ServerContext } from '@modelcontextprotocol/server'
import { openQuestions, RunbridgeError, type TaskKey, type TaskRecord } from '@runbridge/core'
import {
  EXTENSION_ID,
  getTaskResult,
  type InputResponses,
  parseInputResponses,
  parseTaskParams,
} from '@runbridge/core/wire/ext-tasks'
import * as z from 'zod'
import type { App } from './app.js'
import { type Caller, callerOf, canBeAsked } from './caller.js'
import { lacks } from './capability.js'
import { lookAt, ownRecord } from './own-task.js'
import { resourceCapability, serveResources } from './serve-resources.js'
import { answered, serveTools } from './serve-tools.js'

/** Params are parsed by the codec, so that errors name the field. */
const anything = { params: z.looseObject({}) }

/**
 * One server for one request of the 2026-07-28 era: tools, and the methods of the Tasks extension.
 * @param request absent where the transport has none. Its `Mcp-Method` header is the body's method, or it is refused
 */
export function modernServer(app: App, request: Request | undefined): Server {
  const server = new Server(app.info, {
    capabilities: { tools: {}, ...resourceCapability(app), extensions: { [EXTENSION_ID]: {} } },
    ...(app.instructions !== undefined && { instructions: app.instructions }),
    cacheHints: { 'server/discover': { ttlMs: app.limits.listTtlMs, cacheScope: 'public' } },
  })
  const method = request?.headers.get('mcp-method')
  serveTools(server, app, 'modern', { calls: !method || method === 'tools/call' })
  serveResources(server, app, 'modern')
  serveTasks(server, app)
  return server
}

/** Answers the methods of the Tasks extension. */
export function serveTasks(server: Server, app: App): void {
  const taskMethod = (
    name: string,
    handle: (key: TaskKey, caller: Caller, ctx: ServerContext) => Promise<Readonly<Record<string, unknown>>>,
  ) =>
    server.setRequestHandler(name, anything, (params, ctx) =>
      answered(app, async () => {
        const caller = callerOf(app, ctx, 'modern')
        if (!caller.tasks) throw lacks(caller, 'tasks', undeclared(name))
        const { taskId } = parseTaskParams(params)
        return { ...(await handle({ owner: caller.owner, taskId }, caller, ctx)) }
      }),
    )

  taskMethod('tasks/get', async (key, caller) => {
    const { task, view } = await lookAt(app, key, caller)
    return { ...getTaskResult(task, view) }
  })

  taskMethod('tasks/update', async (key, caller, ctx) => {
    const record = await ownRecord(app, key)
    const answers = parseInputResponses(ctx.mcpReq.inputResponses)
    const tool = app.tools.get(record.tool)?.tool
    // Nothing was asked of a caller that can't be asked, so nothing it answers is outstanding.
    if (canBeAsked(tool, caller)) {
      refuseMalformed(record, answers, ctx.mcpReq.droppedInputResponseKeys ?? [])
      await app.service.answer(key, answers.responses)
    }
    return {}
  })

  taskMethod('tasks/cancel', async (key) => {
    await ownRecord(app, key)
    await app.service.cancel(key, 'Cancelled by the caller.')
    return {}
  })
}

/** Malformed answers to keys that are not outstanding are ignored like all answers to them. */
function refuseMalformed(record: TaskRecord, answers: InputResponses, dropped: readonly string[]): void {
  const broken = [...answers.malformed, ...dropped]
  const asked = openQuestions(record).find(({ key }) => broken.includes(key))
  if (asked) {
    throw new RunbridgeError(
      'invalid_input',
      `inputResponses.${asked.key} is no elicitation result: it needs an action and, with accept, a flat content. No answer was taken.`,
    )
  }
}

function undeclared(method: string): string {
  return `${method} needs the extension ${EXTENSION_ID}, which this request does not declare.`
}
