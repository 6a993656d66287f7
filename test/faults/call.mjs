import { mcpRequest, mcpResponse, WITH_TASKS } from '../bin/mcp-request.mjs'

/**
 * One request of the 2026-07-28 revision, raw, so that a scenario can repeat it to the byte.
 * Undefined when the server died over it.
 * @param {string} url
 * @param {string} method
 * @param {Record<string, any>} params
 * @param {object} capabilities what the client declares; default: tasks too
 * @returns {Promise<any>} the JSON-RPC response
 */
export async function call(url, method, params, capabilities = WITH_TASKS) {
  const { headers, body } = mcpRequest(method, params, capabilities)
  try {
    const signal = AbortSignal.timeout(30_000)
    return mcpResponse(await (await fetch(url, { method: 'POST', headers, body, signal })).text())
  } catch {
    return undefined
  }
}
