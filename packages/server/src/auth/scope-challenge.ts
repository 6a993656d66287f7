import { type AuthInfo, bearerAuthChallengeResponse } from '@modelcontextprotocol/server'
import { isJsonObject } from '@runbridge/core'
import { lackedScopes } from '../scopes.js'
import type { Tool } from '../tool.js'
import { readJson } from './read-json.js'
import { InsufficientScope } from './refusal.js'

export interface ScopedRequest {
  readonly authInfo?: AuthInfo
  readonly parsedBody?: unknown
}

export interface Challenge {
  readonly tool: string
  readonly response: Response
}

/**
 * The 403 `insufficient_scope` for a call of a tool whose scopes the token lacks, by which clients know what to
 * ask the person for (MCP 2026-07-28 basic/authorization, "Scope Challenge Handling"). It saves the call from an
 * error that only a model reads; `callTool` refuses it anyway.
 * @param maxBytes of a body that is looked into; the SDK refuses longer ones
 */
export async function scopeChallenge(
  tools: readonly Tool[],
  request: Request,
  { authInfo, parsedBody }: ScopedRequest,
  maxBytes: number,
): Promise<Challenge | undefined> {
  if (!authInfo || request.method !== 'POST') return undefined
  const lacking = new Map(
    tools.flatMap((tool) => {
      const scopes = lackedScopes(tool, authInfo)
      return scopes ? [[tool.name, scopes]] : []
    }),
  )
  if (lacking.size === 0) return undefined
  const names = await calledTools(request, parsedBody, maxBytes)
  const tool = names.find((name) => lacking.has(name))
  const scopes = tool === undefined ? undefined : lacking.get(tool)
  if (tool === undefined || !scopes) return undefined
  const response = bearerAuthChallengeResponse(new InsufficientScope(scopes), {
    requiredScopes: [...scopes],
    ...(authInfo.resourceMetadataUrl !== undefined && { resourceMetadataUrl: authInfo.resourceMetadataUrl }),
  })
  return { tool, response }
}

/** By the headers, which the SDK compares with the body, or by the body where an older era has no such headers. */
async function calledTools(request: Request, parsedBody: unknown, maxBytes: number): Promise<string[]> {
  const method = request.headers.get('mcp-method')
  if (method !== null) return method === 'tools/call' ? [request.headers.get('mcp-name') ?? ''] : []
  const body = parsedBody ?? (await readJson(request.clone(), maxBytes))
  return (Array.isArray(body) ? body : [body]).flatMap((message: unknown) => {
    if (!isJsonObject(message) || message.method !== 'tools/call') return []
    return isJsonObject(message.params) ? [String(message.params.name)] : []
  })
}
