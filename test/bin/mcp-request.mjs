import { randomUUID } from 'node:crypto'

const PREFIX = 'io.modelcontextprotocol/'
const REVISION = '2026-07-28'

/** What a client declares that can ask a person and knows tasks, and one that knows none. */
export const WITH_TASKS = { elicitation: {}, extensions: { [`${PREFIX}tasks`]: {} } }
export const PLAIN = { elicitation: {} }

/**
 * One request of MCP 2026-07-28 as it goes over HTTP, of a client that can do nothing where nothing else is said.
 * @param {string} method
 * @param {Record<string, any>} params `name` or `taskId` goes into the headers too
 * @param {object} [clientCapabilities]
 * @returns {{ headers: Record<string, string>, body: string }}
 */
export function mcpRequest(method, params = {}, clientCapabilities = {}) {
  const _meta = {
    [`${PREFIX}protocolVersion`]: REVISION,
    [`${PREFIX}clientInfo`]: { name: 'test', version: '0' },
    [`${PREFIX}clientCapabilities`]: clientCapabilities,
  }
  const named = params.name ?? params.taskId
  return {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(named !== undefined && { 'mcp-name': named }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: randomUUID(), method, params: { ...params, _meta } }),
  }
}

/**
 * The JSON-RPC response in a body, which is JSON or a stream of events that ends with it; null where it ended before.
 * @param {string} body @returns {any}
 */
export function mcpResponse(body) {
  const json = body.startsWith('{') ? body : /^data: (.*"jsonrpc".*"(?:result|error)".*)$/m.exec(body)?.[1]
  return JSON.parse(json ?? 'null')
}

/** Its result. Throws for an error. @param {string} body @returns {any} */
export function mcpResult(body) {
  const response = mcpResponse(body)
  if (response?.result === undefined) throw new Error(response?.error?.message ?? `No answer: ${body}`)
  return response.result
}
