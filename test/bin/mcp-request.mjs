const PREFIX = 'io.modelcontextprotocol/'
const REVISION = '2026-07-28'

/** What a client that knows tasks says of itself. */
export const WITH_TASKS = { extensions: { [`${PREFIX}tasks`]: {} } }

/**
 * One request of MCP 2026-07-28 as it goes over HTTP, of a client without tasks where nothing else is said.
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
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  }
}

/**
 * The answer in a body, which is JSON or a stream of events that ends with it. Throws for an error.
 * @param {string} body
 */
export function mcpResult(body) {
  const { result, error } = JSON.parse([...body.matchAll(/^data: (.+)$/gm)].at(-1)?.[1] ?? body)
  if (error) throw new Error(error.message)
  return result
}
