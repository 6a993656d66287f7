import { randomUUID } from 'node:crypto'

const VERSION = '2026-07-28'
export const CAPABILITIES = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } }
/** Of a client without tasks. */
export const PLAIN = { elicitation: {} }

/**
 * One request of the 2026-07-28 revision, raw, so that a scenario can repeat it to the byte.
 * Undefined when the server died over it.
 * @param {string} url
 * @param {string} method
 * @param {Record<string, any>} params
 * @param {object} capabilities what the client declares; default: tasks too
 * @returns {Promise<any>} the JSON-RPC response
 */
export async function call(url, method, params, capabilities = CAPABILITIES) {
  const name = params.taskId ?? params.name
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'faults', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': VERSION,
        'mcp-method': method,
        ...(name && { 'mcp-name': name }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: randomUUID(), method, params: { ...params, _meta } }),
      signal: AbortSignal.timeout(30_000),
    })
    const text = await response.text()
    const json = text.startsWith('{')
      ? text
      : (/^data: (.*"jsonrpc".*"(?:result|error)".*)$/m.exec(text)?.[1] ?? 'null')
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
