import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { RunbridgeError, toRunbridgeError } from '@runbridge/core'
import { jsonRpcError } from '@runbridge/core/wire/ext-tasks'
import * as z from 'zod'
import type { App } from './app.js'
import { type CallRound, callTool } from './call-tool.js'
import { callerOf, type Era } from './caller.js'
import { FOLLOW_UPS } from './follow-up.js'
import { listTools } from './list-tools.js'

/** `CallToolRequestParams`; `arguments` is checked against the tool's own schema later. */
const callParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.json()).optional(),
})

export interface ServeToolsOptions {
  /**
   * False where the request is known to be another: a fallback turns the 404 of an unknown method into a 200
   * (2026-07-28 basic/transports/streamable-http). Default true.
   */
  readonly calls?: boolean
  /** Tools of somebody else on the same server. */
  readonly others?: OtherTools
}

export interface OtherTools {
  /** As `tools/list` shows them, behind ours. */
  list(ctx: ServerContext): Promise<readonly object[]> | readonly object[]
  /** Answers a call of a tool that is none of ours. */
  call(request: { readonly method: string; readonly params?: unknown }, ctx: ServerContext): Promise<object>
}

/**
 * Answers `tools/list` and, where the request may be one, `tools/call` on a server of either era. Calls go
 * through the fallback handler: the typed one adds `content: []` to task handles. Its checks on questions are
 * done in `ask` and `request-state`.
 */
export function serveTools(server: Server, app: App, era: Era, options: ServeToolsOptions = {}): void {
  const { calls = true, others } = options
  server.setRequestHandler('tools/list', async (request, ctx) => {
    // There is one page, so no cursor is ours.
    if (request.params?.cursor !== undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'params.cursor is not a cursor of this server.',
      )
    }
    const tools = [...listTools(app, callerOf(app, ctx, era)), ...((await others?.list(ctx)) ?? [])]
    const hints = era === 'modern' ? { ttlMs: app.limits.listTtlMs, cacheScope: 'private' as const } : {}
    return { tools, ...hints } as never
  })
  if (!calls) return
  server.fallbackRequestHandler = async (request, ctx) => {
    if (request.method !== 'tools/call')
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found')
    return answered(app, async () => {
      const parsed = callParams.safeParse(request.params)
      if (!parsed.success)
        throw new RunbridgeError('invalid_input', `Malformed tools/call: ${z.prettifyError(parsed.error)}`)
      const { name, arguments: args = {} } = parsed.data
      if (others && !app.tools.has(name) && !FOLLOW_UPS.has(name))
        return { ...(await others.call(request, ctx)) }
      const answer = await callTool(app, {
        name,
        args,
        caller: callerOf(app, ctx, era),
        round: roundOf(app, ctx, era),
      })
      return { ...answer }
    })
  }
}

function roundOf(app: App, ctx: ServerContext, era: Era): CallRound {
  const state = era === 'modern' ? ctx.mcpReq.requestState() : undefined
  return {
    hasState: state !== undefined,
    inputResponses: ctx.mcpReq.inputResponses,
    open: (call) => app.states.open(state, call, ctx),
    seal: (sealed) => app.states.seal(sealed, ctx),
  }
}

/** Runs a handler; what it throws leaves as a JSON-RPC error without anything internal in it. */
export async function answered<T>(
  app: App,
  handle: () => Promise<T>,
  wireError: (error: RunbridgeError) => Pick<ProtocolError, 'code' | 'message' | 'data'> = jsonRpcError,
): Promise<T> {
  try {
    return await handle()
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown
    const error = toRunbridgeError(thrown)
    if (error.code === 'internal') {
      app.log.error({ err: error.cause ?? error }, 'a request met an unexpected error')
    }
    const { code, message, data } = wireError(error)
    throw new ProtocolError(code, message, data)
  }
}
