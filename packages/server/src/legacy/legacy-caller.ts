import type { ServerContext } from '@modelcontextprotocol/server'
import type { App } from '../app.js'
import { callerOf } from '../caller.js'
import type { LegacyRequest } from './older-form.js'
import type { Session } from './session.js'

const NEVER = new AbortController().signal

/** The request with its caller: who it is by the request, what it can by the beginning of its session. */
export function legacyRequest(app: App, session: Session, ctx: ServerContext): LegacyRequest {
  const caller = callerOf(app, ctx, 'legacy')
  const gone = ctx.http?.req?.signal
  return {
    app,
    session,
    id: ctx.mcpReq.id,
    gone: gone ?? NEVER,
    caller: {
      ...caller,
      elicitation: session.elicitation,
      ...(gone && { signal: AbortSignal.any([caller.signal, gone]) }),
    },
  }
}
