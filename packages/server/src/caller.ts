import { type AuthInfo, CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server'
import { type Clock, isJsonObject, type Owner } from '@runbridge/core'
import { EXTENSION_ID } from '@runbridge/core/wire/ext-tasks'
import { isWithdrawn } from './on-abandon.js'
import { ownerOf } from './owner.js'
import { lackedScopes } from './scopes.js'
import type { Tool } from './tool.js'

export type Era = 'modern' | 'legacy'

/** Who sends this one request, and what may be sent back. Nothing is remembered between requests. */
export interface Caller {
  readonly owner: Owner
  readonly era: Era
  /** Declared the Tasks extension on this request. */
  readonly tasks: boolean
  /** Declared elicitation in form mode on this request. */
  readonly elicitation: boolean
  /** What the caller's token may do; absent where nobody's token was asked for, which restricts nothing. */
  readonly scopes?: readonly string[]
  /**
   * When its token expires, in ms since the epoch: it is kept waiting no longer, since what comes later is for who
   * has a new one. Absent where there is no token.
   */
  readonly expiresAt?: number
  /** Aborts when the caller is gone; ends waiting, never a run. */
  readonly signal: AbortSignal
  /** Whether the client itself took this request back: never for a lost connection or an ended session. */
  readonly withdrawn: () => boolean
  /** Present when the caller asked for progress. Resolves when the notification has left. */
  readonly progress?: (message: string) => Promise<void>
}

/** What it can, says the request's own envelope; an older era has none that a stateless server knows. */
export function callerOf({ clock }: { readonly clock: Clock }, ctx: ServerContext, era: Era): Caller {
  const envelope: Readonly<Record<string, unknown>> | undefined = ctx.mcpReq.envelope
  const progress = progressOf(ctx)
  return {
    ...identityOf(ctx.http?.authInfo),
    ...expiryOf(ctx.http?.authInfo, clock),
    era,
    ...declared(era === 'modern' ? envelope?.[CLIENT_CAPABILITIES_META_KEY] : undefined),
    signal: ctx.mcpReq.signal,
    withdrawn: () => isWithdrawn(ctx.mcpReq.signal),
    ...(progress && { progress }),
  }
}

/** Who the caller is, and what its token may do. */
export function identityOf(authInfo: AuthInfo | undefined): Pick<Caller, 'owner' | 'scopes'> {
  return { owner: ownerOf(authInfo), ...(authInfo && { scopes: authInfo.scopes }) }
}

/** Tokens are judged by the system's clock, as the SDK does, and waits go by the one that processes share. */
export function expiryOf(authInfo: AuthInfo | undefined, clock: Clock): Pick<Caller, 'expiresAt'> {
  if (authInfo?.expiresAt === undefined) return {}
  return { expiresAt: clock.now() + authInfo.expiresAt * 1000 - Date.now() }
}

/** What the capabilities of a request say of its client. */
export function declared(capabilities: unknown): Pick<Caller, 'tasks' | 'elicitation'> {
  const { extensions, elicitation } = isJsonObject(capabilities) ? capabilities : {}
  return {
    tasks: isJsonObject(extensions) && isJsonObject(extensions[EXTENSION_ID]),
    elicitation: declaresForms(elicitation),
  }
}

/** An empty object means form mode (2026-07-28 client/elicitation, "Capabilities"). */
function declaresForms(elicitation: unknown): boolean {
  return (
    isJsonObject(elicitation) && (elicitation.form !== undefined || Object.keys(elicitation).length === 0)
  )
}

/** One token for the call, strictly increasing values (2026-07-28 basic/patterns/progress). */
function progressOf(ctx: ServerContext): Caller['progress'] {
  const progressToken = ctx.mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  let progress = 0
  return async (message) => {
    progress += 1
    if (ctx.mcpReq.signal.aborted) return
    const params = { progressToken, progress, message }
    // The caller may be gone; that ends nothing here.
    await ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}

/** Whether the gates of this tool's runs can be put to this caller. */
export function canBeAsked(tool: Tool | undefined, caller: Pick<Caller, 'elicitation' | 'scopes'>): boolean {
  return tool !== undefined && tool.humanInput !== 'off' && caller.elicitation && !lackedScopes(tool, caller)
}
