import { randomUUID } from 'node:crypto'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'
import { plainFlows, same, textOf } from './flows.mjs'

/**
 * The client of the SDK 1.x: 2025-11-25, and SEP-1686 by the metadata of its requests.
 * @param {import('./flows.mjs').Target} target
 * @returns {Promise<import('./flows.mjs').Connected>}
 */
export async function v1({ url, process }) {
  const client = new Client(
    { name: 'interop-v1', version: '0.0.0' },
    { capabilities: { elicitation: { form: {} } } },
  )
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { confirm: true } }))
  const transport =
    url === undefined
      ? new StdioClientTransport({ ...process, stderr: 'ignore' })
      : new StreamableHTTPClientTransport(new URL(url))
  await client.connect(/** @type {any} */ (transport))
  await client.listTools()
  const { tasks } = client.experimental

  /** @param {string} name @param {Record<string, unknown>} args */
  async function toEnd(name, args) {
    let result
    for await (const message of tasks.callToolStream({ name, arguments: args }, CallToolResultSchema)) {
      if (message.type === 'result') result = message.result
      if (message.type === 'error') throw message.error
    }
    return result
  }
  /** @param {string} name @param {Record<string, unknown>} args @returns {Promise<string>} */
  async function started(name, args) {
    const request = { method: 'tools/call', params: { name, arguments: args, task: {} } }
    const answer = await client.request(/** @type {any} */ (request), z.looseObject({ task: z.any() }))
    return /** @type {any} */ (answer).task.taskId
  }

  return {
    close: () => client.close(),
    flows: {
      ...plainFlows(client),
      async task() {
        same(textOf(await toEnd('compute', { seconds: 1, label: 'task' })), 'task took 1 s')
      },
      async failure() {
        const taskId = await started('fail', {})
        const result = await tasks.getTaskResult(taskId, CallToolResultSchema)
        same([result.isError, (await tasks.getTask(taskId)).status], [true, 'failed'])
      },
      async cancel() {
        const taskId = await started('compute', { seconds: 60, label: 'never' })
        same((await tasks.cancelTask(taskId)).status, 'cancelled')
      },
      async draft() {
        const taskId = randomUUID()
        const params = {
          name: 'compute',
          arguments: { seconds: 1, label: 'draft' },
          _meta: { 'modelcontextprotocol.io/task': { taskId } },
        }
        const request = /** @type {any} */ ({ method: 'tools/call', params })
        const answering = client.request(request, CallToolResultSchema)
        const own = /** @type {any} */ ((await answering)._meta)?.['modelcontextprotocol.io/related-task']
        same([textOf(await answering), own?.taskId], ['draft took 1 s', taskId])
        const get = /** @type {any} */ ({ method: 'tasks/get', params: { taskId } })
        const task = await client.request(get, z.looseObject({ status: z.string() }))
        same(task.status, 'completed')
      },
    },
  }
}
