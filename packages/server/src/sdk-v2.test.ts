import { createServer as createNodeServer, type Server as NodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { afterEach, expect, it } from 'vitest'
import { addTools } from './sdk-v2.js'
import { send } from './testing/raw-client.js'
import { type World, type WorldOptions, world } from './testing/world.js'

let w: World
let node: NodeServer
let url: string
const open = async (options?: WorldOptions) => {
  w = await world(options)
  const own = { name: 'own', description: 'Theirs.', inputSchema: { type: 'object' } }
  const handler = createMcpHandler(({ era }) => {
    const server = new Server({ name: 'theirs', version: '1' }, { capabilities: {} })
    const others = {
      list: () => [own],
      call: async () => ({ content: [{ type: 'text', text: 'mine' }] }),
    }
    addTools(server, w.server, { era, others })
    return server
  })
  node = createNodeServer(getRequestListener((request) => handler.fetch(request)))
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(node.address() as AddressInfo).port}/mcp`
}
afterEach(async () => {
  node.closeAllConnections()
  await new Promise((resolve) => node.close(resolve))
  await w.close()
})

it.each(['auto', 'legacy'] as const)('the official client finds both kinds of tools, %s', async (mode) => {
  await open({ tools: [{ name: 'order', holdMs: 0 }] })
  const client = new Client({ name: 'client', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['order', 'task_status', 'own']))
  expect((await client.callTool({ name: 'own' })).content).toEqual([{ type: 'text', text: 'mine' }])
  const [part] = (await client.callTool({ name: 'order' })).content as { text: string }[]
  expect(part?.text).toMatch(/^Task tsk_/)
  expect((await client.listResources()).resources).toHaveLength(1)
  await client.close()
})

it('hands out tasks of the extension and follows them', async () => {
  await open()
  const sent = { tasks: true }
  const { result: handle } = await send(url, 'tools/call', { name: 'order', arguments: {} }, sent)
  expect(handle).toMatchObject({ resultType: 'task', status: 'working' })
  const run = await w.run()
  await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'done' }))
  const { result } = await send(url, 'tasks/get', { taskId: handle.taskId }, sent)
  expect(result).toMatchObject({ status: 'completed', result: { content: [{ text: 'done' }, {}] } })
})
