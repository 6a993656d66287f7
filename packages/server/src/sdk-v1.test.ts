import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, describe, expect, it } from 'vitest'
import { runbridgeTasks } from './sdk-v1.js'
import { QUANTITY, type World, type WorldOptions, world } from './testing/world.js'

let w: World
let client: Client
const open = async (options?: WorldOptions) => {
  w = await world(options)
  const runbridge = runbridgeTasks(w.server)
  const tasks = { cancel: {}, list: {}, requests: { tools: { call: {} } } }
  const server = new McpServer(
    { name: 'theirs', version: '1' },
    { taskStore: runbridge.taskStore, capabilities: { tasks } },
  )
  server.registerTool('own', { description: 'Theirs.' }, () => ({
    content: [{ type: 'text', text: 'mine' }],
  }))
  runbridge.addTo(server)
  client = new Client({ name: 'client', version: '1' })
  const [left, right] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(left), client.connect(right)])
}
afterEach(async () => {
  await client.close()
  await w.close()
})

const call = (name = 'order', args: object = {}, task?: { ttl?: number }) =>
  client.experimental.tasks.callToolStream(
    { name, arguments: args as never },
    CallToolResultSchema,
    task ? { task } : {},
  )

describe('an McpServer of the SDK 1.x', () => {
  it('lists the tools beside its own, with their own schemas and task support', async () => {
    await open({ tools: [{ name: 'order', inputSchema: QUANTITY }] })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['own', 'order'])
    expect(tools[1]).toMatchObject({ inputSchema: QUANTITY, execution: { taskSupport: 'optional' } })
    expect((await client.callTool({ name: 'own' })).content).toEqual([{ type: 'text', text: 'mine' }])
  })

  it('runs a workflow as a task to its result', async () => {
    await open()
    await client.listTools()
    const kinds: string[] = []
    for await (const message of call('order', {}, { ttl: 600_000 })) {
      kinds.push(message.type)
      if (message.type === 'taskCreated') {
        const run = await w.run()
        await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: { total: 7 } }))
      }
      if (message.type === 'result') expect(message.result.structuredContent).toEqual({ total: 7 })
      if (message.type === 'error') throw message.error
    }
    expect([kinds[0], kinds.at(-1)]).toEqual(['taskCreated', 'result'])
    expect((await w.store.list('local', {}, 10)).records[0]).toMatchObject({
      form: 'core-2025-11-25',
      retainMs: 600_000,
    })
  })

  it('says a failing run in the task and in its result', async () => {
    await open()
    await client.listTools()
    const created = await call('order', {}, {}).next()
    const { taskId } = (created.value as { task: { taskId: string } }).task
    const run = await w.run()
    const error = { code: 'NoStock', message: 'none left', step: 'Reserve' }
    await w.set(run, () => w.backend.set(run.runKey, { state: 'failed', error }))
    const task = await client.experimental.tasks.getTask(taskId)
    expect(task).toMatchObject({ status: 'failed', statusMessage: expect.stringContaining('Reserve') })
    const result = await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)
    expect(result.isError).toBe(true)
  })

  it('cancels at once, lists, and knows no other tasks', async () => {
    await open()
    await client.listTools()
    const created = await call('order', {}, {}).next()
    const { taskId } = (created.value as { task: { taskId: string } }).task
    expect((await client.experimental.tasks.cancelTask(taskId)).status).toBe('cancelled')
    expect((await w.run()).cancels).toHaveLength(1)
    const { tasks } = await client.experimental.tasks.listTasks()
    expect(tasks.map((task) => task.taskId)).toEqual([taskId])
    await expect(client.experimental.tasks.getTask('tsk_nobody')).rejects.toMatchObject({ code: -32602 })
  })

  it('answers a plain call with the result, however the SDK waits for it', async () => {
    await open()
    const answering = client.callTool({ name: 'order' })
    const run = await w.run()
    w.backend.set(run.runKey, { state: 'succeeded', output: 'done' })
    w.clock.jump(60_000)
    expect(await answering).toMatchObject({ content: [{ text: 'done' }, {}] })
  })

  it('refuses what does not fit and what it can not ask, and starts nothing', async () => {
    const confirm = { message: 'Really?' }
    await open({
      tools: [
        { name: 'order', inputSchema: QUANTITY },
        { name: 'confirmed', confirm },
        { name: 'gated', humanInput: 'elicitation' },
      ],
    })
    for (const [name, words] of [
      ['order', '/quantity'],
      ['confirmed', 'asks a person to confirm'],
      ['gated', 'did not declare elicitation'],
    ] as const) {
      const { isError, content } = await client.callTool({ name })
      expect([isError, JSON.stringify(content)]).toEqual([true, expect.stringContaining(words)])
    }
    expect(w.backend.executions).toEqual([])
  })

  it('refuses a call with a token as long as nobody says whose the tasks are', async () => {
    await open()
    const [left, right] = InMemoryTransport.createLinkedPair()
    const server = new McpServer(
      { name: 'theirs', version: '1' },
      { taskStore: runbridgeTasks(w.server).taskStore },
    )
    runbridgeTasks(w.server).addTo(server)
    const send = right.send.bind(right)
    right.send = (message, options) =>
      send(message, { ...options, authInfo: { token: 't', clientId: 'c', scopes: [] } })
    const other = new Client({ name: 'client', version: '1' })
    await Promise.all([server.connect(left), other.connect(right)])
    const { isError, content } = await other.callTool({ name: 'order' })
    expect([isError, JSON.stringify(content)]).toEqual([true, expect.stringContaining('whose tasks')])
    expect(w.backend.executions).toEqual([])
    await other.close()
  })

  it('runs synchronous workflows as usual tools', async () => {
    await open({ tools: [{ name: 'greet' }], capabilities: { execution: 'call', gates: false } })
    const { structuredContent } = await client.callTool({ name: 'greet', arguments: { name: 'World' } })
    expect(structuredContent).toEqual({ name: 'World' })
  })
})
