import { PassThrough } from 'node:stream'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { systemClock } from '@runbridge/core'
import { expect, it } from 'vitest'
import type { App } from './app.js'
import { listenOverHttp } from './listen-http.js'
import { withTaskSubscriptions } from './listen-on-channel.js'
import type { TaskNotification, TaskSubscription } from './subscriptions.js'
import { inbox } from './testing/inbox.js'
import { headersOf, message } from './testing/raw-client.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
type Any = any

/** Tools that change, which no tools of Runbridge do yet; the SDK's routers serve the kind. */
const changingTools = () =>
  new Server({ name: 'x', version: '0' }, { capabilities: { tools: { listChanged: true } } })

const notifications = { toolsListChanged: true, taskIds: ['tsk_1'] }
const listen = message(7, 'subscriptions/listen', { notifications }, { tasks: true })
const taskFrame = { jsonrpc: '2.0', method: 'notifications/tasks', params: { taskId: 'tsk_1' } }
const app = { clock: systemClock, closing: new AbortController().signal, log: console } as unknown as App

function oneTask() {
  const frames = inbox<TaskNotification>()
  const subscription: TaskSubscription = { taskIds: ['tsk_1'], next: frames.next, close: frames.end }
  return { frames, subscriptions: { open: async () => subscription } as Any }
}

it('over HTTP, tasks and changed tools share one stream, which outlives its tasks', async () => {
  const { frames, subscriptions } = oneTask()
  const mcp = createMcpHandler(changingTools, { legacy: 'reject' })
  const request = new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: headersOf('subscriptions/listen'),
    body: JSON.stringify(listen),
  })
  const response = await listenOverHttp(app, subscriptions, request, {}, mcp.fetch)
  const reader = response.body?.getReader()
  const read = async () => {
    const { value } = (await reader?.read()) ?? {}
    return value && JSON.parse(Buffer.from(value).toString().split('data: ')[1] ?? '')
  }
  expect((await read()).params.notifications).toEqual(notifications)
  frames.put(taskFrame as Any)
  expect(await read()).toEqual(taskFrame)
  mcp.notify.toolsChanged()
  expect((await read()).method).toBe('notifications/tools/list_changed')
  frames.end()
  mcp.notify.toolsChanged()
  expect((await read()).method).toBe('notifications/tools/list_changed')
  await mcp.close()
  expect(await read()).toMatchObject({ id: 7, result: { resultType: 'complete' } })
  expect(await read()).toBeUndefined()
})

it('over stdio, tasks and changed tools share one subscription, which outlives its tasks', async () => {
  const { frames, subscriptions } = oneTask()
  const [input, output] = [new PassThrough(), new PassThrough()]
  const seen = inbox<Any>()
  output.on('data', (chunk) => {
    for (const line of chunk.toString().trim().split('\n')) seen.put(JSON.parse(line))
  })
  const server = changingTools()
  const transport = withTaskSubscriptions(app, subscriptions, new StdioServerTransport(input, output))
  const handle = serveStdio(() => server, { transport })
  input.write(`${JSON.stringify(listen)}\n`)
  expect((await seen.next()).params.notifications).toEqual(notifications)
  frames.put(taskFrame as Any)
  expect(await seen.next()).toEqual(taskFrame)
  frames.end()
  await server.sendToolListChanged()
  expect(await seen.next()).toMatchObject({
    method: 'notifications/tools/list_changed',
    params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 7 } },
  })
  await handle.close()
  expect(await seen.next()).toMatchObject({ id: 7, result: { resultType: 'complete' } })
})
