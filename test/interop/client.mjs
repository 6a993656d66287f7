import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  createTaskSessionFromClient,
  taskViewFromExecutionEvent,
} from '@modelcontextprotocol/ext-tasks/client'

/** @typedef {import('@modelcontextprotocol/ext-tasks/client').ApplicationElicitResult} Answer */
/** @typedef {{ status: string, isError: boolean, text: string, structured?: unknown }} End how a call ended */
/**
 * @typedef {object} Followed
 * @property {string} taskId
 * @property {string[]} messages every status message so far
 * @property {Promise<End>} end
 */

const clientInfo = { name: 'runbridge-interop', version: '0.0.0' }
const capabilities = { elicitation: { form: {} } }
/** The same for every server process: its tasks outlive it. */
const endpointId = 'runbridge-interop'

/**
 * The official client with the official tasks package.
 * @param {string} url
 * @param {(message: string) => Answer} person answers what is asked
 * @param {Record<string, string>} [headers] of every request
 * @param {typeof globalThis.fetch} [fetch] what sends them
 */
export async function connect(url, person, headers = {}, fetch = globalThis.fetch) {
  const open = () => new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, fetch })
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: 'auto' } })
  await client.connect(open())
  const raw = open()
  await raw.start()
  const session = createTaskSessionFromClient(client, {
    endpointId,
    rawDispatch: rawDispatch(raw),
    v2RequestFraming: {
      protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
      clientInfo,
      clientCapabilities: capabilities,
    },
    onInputRequest: async (request) =>
      /** @type {never} */ (person(String(/** @type {any} */ (request).params.message))),
  })

  /** @param {import('@modelcontextprotocol/ext-tasks/client').ToolExecution<any, void>} execution @returns {Followed} */
  function follow(execution) {
    const taskId = execution.handle?.taskId
    if (taskId === undefined) throw new Error('The call did not become a task.')
    /** @type {string[]} */
    const messages = []
    const settled = execution.settle({
      onEvent: (event) => {
        const message = taskViewFromExecutionEvent(event)?.statusMessage
        if (message !== undefined) messages.push(message)
      },
    })
    const end = settled.then(({ outcome }) => endOf(outcome))
    end.catch(() => undefined)
    return { taskId, messages, end }
  }

  return {
    /** @param {string} name @param {Record<string, any>} [args] */
    call: async (name, args = {}) => follow(await session.callTool(name, args)),
    /** Goes on with a task of an earlier server. @param {string} taskId */
    async resume(taskId) {
      const reference = { endpointId, generation: 'v2', taskId, originalOperation: 'tools/call' }
      return follow(await session.resumeTask(/** @type {any} */ (reference)))
    },
    /** @param {string} taskId */
    cancel: (taskId) => session.cancelTask(/** @type {any} */ (taskId)),
    async close() {
      await raw.close()
      await client.close()
    },
  }
}

/** @param {any} outcome @returns {End} */
function endOf(outcome) {
  if (outcome.status !== 'completed') {
    return { status: outcome.status, isError: true, text: outcome.error?.message ?? '' }
  }
  const { content = [], structuredContent, isError } = outcome.result
  return {
    status: 'completed',
    isError: isError === true,
    text: content[0]?.text ?? '',
    structured: structuredContent,
  }
}

/**
 * ext-tasks frames its own requests; they go out as they are over a transport of their own.
 * @param {StreamableHTTPClientTransport} transport
 * @returns {import('@modelcontextprotocol/ext-tasks/client').RawClientDispatch}
 */
function rawDispatch(transport) {
  /** @type {Map<string, (answer: any) => void>} */
  const pending = new Map()
  let count = 0
  transport.onmessage = (/** @type {any} */ message) => {
    const kind = 'error' in message ? 'error' : 'result'
    pending.get(String(message.id))?.({ kind, [kind]: message[kind] })
  }
  return async (request, options) => {
    const id = `raw-${++count}`
    const answer = new Promise((resolve, reject) => {
      pending.set(id, resolve)
      options?.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true })
      transport
        .send(/** @type {any} */ ({ .../** @type {object} */ (request), jsonrpc: '2.0', id }))
        .catch(reject)
    })
    return answer.finally(() => pending.delete(id))
  }
}
