import { type AuthInfo, isJsonContentType, isLegacyRequest } from '@modelcontextprotocol/server'
import { readJson } from '../auth/read-json.js'
import { isInitialize, SESSION_HEADER, type Sessions } from './sessions.js'

export interface LegacyOptions {
  readonly authInfo?: AuthInfo
  readonly parsedBody?: unknown
}

/** A request that is not of the older revisions, with its body where that had to be read. */
export interface Passed {
  readonly passed: LegacyOptions
}

/** Messages of one body (2025-03-26 basic, "Batching"), as the SDK bounds them too: answers and cancels do not reach it. */
const MAX_BATCH = 100

/** Revisions are dates, and those from here on have no sessions. */
const FIRST_WITHOUT_SESSIONS = '2026-07-28'

/**
 * Answers a request of the revisions before 2026-07-28 in its session, and hands back all others. Only a body
 * that no header tells the revision of is read here, and no more of it than the SDK would read.
 */
export async function serveLegacy(
  sessions: Sessions,
  request: Request,
  options: LegacyOptions,
  maxBytes: number,
): Promise<Response | Passed> {
  const version = request.headers.get('mcp-protocol-version')
  const passed = { passed: options }
  if (version !== null && version >= FIRST_WITHOUT_SESSIONS && /^\d{4}-\d\d-\d\d$/.test(version))
    return passed
  const inSession = request.headers.get(SESSION_HEADER) !== null
  if (request.method === 'GET' || request.method === 'DELETE') {
    // Without a session there is nothing to listen to or to end: 405, as for every revision.
    return inSession ? sessions.handle(request, undefined, options.authInfo) : passed
  }
  if (request.method !== 'POST' || !isJsonContentType(request.headers.get('content-type'))) return passed
  const body = options.parsedBody ?? (await readJson(request.clone(), maxBytes))
  // What is no JSON, or too much of it, the SDK refuses.
  if (body === undefined) return passed
  if (Array.isArray(body) && body.length > MAX_BATCH) return tooMany(body.length)
  // No session is demanded: who sends a request without one is served the plain path, which needs none.
  const ours = (inSession || isInitialize(body)) && (await isLegacyRequest(request, body))
  return ours
    ? sessions.handle(request, body, options.authInfo)
    : { passed: { ...options, parsedBody: body } }
}

function tooMany(count: number): Response {
  const message = `A batch has at most ${MAX_BATCH} messages, and this one has ${count}. Nothing of it was done.`
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }, { status: 400 })
}
