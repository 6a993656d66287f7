import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client'
import { plainFlows, same, textOf } from './flows.mjs'

const clientInfo = { name: 'interop-modern', version: '0.0.0' }
const capabilities = { elicitation: { form: {} } }
/** @type {{ task: { preference: 'require' } }} */
const TASK = { task: { preference: 'require' } }

/**
 * The client of the SDK 2.x with the official tasks package, on 2026-07-28 or on 2025-11-25.
 * @param {'auto' | 'legacy'} mode
 * @returns {(target: import('./flows.mjs').Target) => Promise<import('./flows.mjs').Connected>}
 */
export const modern =
  (mode) =>
  async ({ url, process }) => {
    const transport =
      url === undefined
        ? new StdioClientTransport({ ...process, stderr: 'ignore' })
        : new StreamableHTTPClientTransport(new URL(url))
    const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode } })
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { confirm: true },
    }))
    await client.connect(transport)
    const session = createTaskSessionFromClient(client, {
      endpointId: 'interop',
      rawDispatch: rawDispatch(transport),
      ...(mode === 'auto' && {
        v2RequestFraming: {
          protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
          clientInfo,
          clientCapabilities: capabilities,
        },
      }),
      onInputRequest: async () => /** @type {never} */ ({ action: 'accept', content: { confirm: true } }),
    })
    /** @param {string} name @param {Record<string, string | number>} args @returns {Promise<any>} */
    const settled = async (name, args) => (await (await session.callTool(name, args, TASK)).settle()).outcome

    return {
      close: () => client.close(),
      flows: {
        ...plainFlows(client),
        async task() {
          const { status, result } = await settled('compute', { seconds: 1, label: 'task' })
          same([status, textOf(result)], ['completed', 'task took 1 s'])
        },
        async failure() {
          const { status, result } = await settled('fail', {})
          // The extension completes with a tool error; 2025-11-25 fails.
          if (mode === 'auto') same([status, result.isError], ['completed', true])
          else same(status, 'failed')
        },
        async cancel() {
          const args = { seconds: 60, label: 'never' }
          const execution = await session.callTool('compute', args, TASK)
          if (!execution.handle) throw new Error('The call did not become a task.')
          await session.cancelTask(execution.handle.taskId)
          same((await execution.settle()).outcome.status, 'cancelled')
        },
      },
    }
  }

/**
 * ext-tasks frames its own requests; they go out as they are, beside the client's, and their answers come here.
 * @param {import('@modelcontextprotocol/client').Transport} transport
 * @returns {import('@modelcontextprotocol/ext-tasks/client').RawClientDispatch}
 */
function rawDispatch(transport) {
  /** @type {Map<unknown, (answer: any) => void>} */
  const pending = new Map()
  let count = 0
  const deliver = transport.onmessage
  transport.onmessage = (/** @type {any} */ message, extra) => {
    const settle = 'method' in message ? undefined : pending.get(message.id)
    if (!settle) return deliver?.call(transport, message, extra)
    settle({ kind: 'error' in message ? 'error' : 'result', ...message })
  }
  return async (request, options) => {
    const id = `interop-${++count}`
    const answered = new Promise((resolve, reject) => {
      pending.set(id, resolve)
      options?.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true })
      const message = { .../** @type {object} */ (request), jsonrpc: '2.0', id }
      transport.send(/** @type {any} */ (message)).catch(reject)
    })
    return answered.finally(() => pending.delete(id))
  }
}
