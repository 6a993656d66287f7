import { Client as ModernClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Json } from '@runbridge/core'
import { sealed } from '@runbridge/stores/sealed'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { taskUri } from './task-resources.js'
import { httpLegacy } from './testing/legacy-client.js'
import { send } from './testing/raw-client.js'
import { type World, type WorldOptions, world } from './testing/world.js'

const outputSchema = {
  type: 'object',
  properties: { total: { type: 'number' } },
  required: ['total'],
  additionalProperties: false,
} as const
const SYNC = { capabilities: { execution: 'call', gates: false } } as const

let w: World
const warn = vi.fn()
const ends: (() => Promise<unknown>)[] = []
async function open({ server, ...options }: WorldOptions = {}) {
  warn.mockReset()
  const log = { info: () => {}, warn, error: () => {} }
  w = await world({ tools: [{ name: 'order', outputSchema }], ...options, server: { log, ...server } })
  ends.push(() => w.close())
}
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function succeed(output?: Json): Promise<void> {
  const run = await w.run()
  await w.set(run, () =>
    w.backend.set(run.runKey, { state: 'succeeded', ...(output !== undefined && { output }) }),
  )
  await w.clock.advance(5_000)
}

const PROBLEM = '/total must be number (rule: type)'
/** What every form shows of a run whose output was `{"total":"7"}`. */
function expectMisfit(result: unknown): void {
  expect(result).toMatchObject({ isError: true })
  expect(result).not.toHaveProperty('structuredContent')
  const { content } = result as { content: { text: string }[] }
  expect(content[0]?.text).toMatch(/^The run .*succeeded, but its output does not fit the output schema/)
  expect(content[0]?.text).toContain(PROBLEM)
  expect(content[0]?.text).toContain('Do not start it again for that')
  expect(content[1]?.text).toBe('{"total":"7"}')
}

const call = (sent = { tasks: true }) =>
  send(w.http.url, 'tools/call', { name: 'order', arguments: {} }, sent)
const get = async (taskId: string) =>
  (await send(w.http.url, 'tasks/get', { taskId }, { tasks: true })).result

describe('an output that does not fit the output schema of its tool', () => {
  it('leaves the task completed, and is warned of once', async () => {
    await open()
    const { taskId } = (await call()).result
    await succeed({ total: '7' })
    for (let n = 0; n < 2; n += 1) {
      const task = await get(taskId)
      expect(task.status).toBe('completed')
      expectMisfit(task.result)
      expect(task.result.content[0].text).toContain('The run run-1 succeeded')
    }
    expect((await w.store.get({ owner: 'local', taskId }))?.state).toBe('succeeded')
    expect(warn.mock.calls).toEqual([
      [
        { taskId, tool: 'order', run: 'run-1', reason: expect.stringContaining(PROBLEM) },
        expect.stringContaining('does not fit'),
      ],
    ])
  })

  it('is told by notifications/tasks', async () => {
    await open()
    const { taskId } = (await call()).result
    await succeed({ total: '7' })
    const listening = await send(
      w.http.url,
      'subscriptions/listen',
      { notifications: { taskIds: [taskId] } },
      { tasks: true },
    )
    const told = listening.notifications.find(({ method }) => method === 'notifications/tasks')
    expectMisfit(told.params.result)
  })

  it('is told to a client without tasks, held or by task_status', async () => {
    await open()
    const answering = call({ tasks: false })
    await succeed({ total: '7' })
    const { result } = await answering
    expectMisfit(result)
    const taskId = /task (tsk_[\w-]+)/.exec(JSON.stringify(result))?.[1] ?? ''
    const params = { name: 'task_status', arguments: { taskId } }
    expectMisfit((await send(w.http.url, 'tools/call', params)).result)
    expect(warn).toHaveBeenCalledTimes(1)
  })

  it('is told in the resource of the result', async () => {
    await open()
    const { taskId } = (await call()).result
    await succeed({ total: '7' })
    const uri = taskUri(taskId, 'result')
    const { result } = await send(w.http.url, 'resources/read', { uri }, { headers: { 'mcp-name': uri } })
    expectMisfit(JSON.parse(result.contents[0].text))
  })

  it('is told by tasks/result of 2025-11-25', async () => {
    await open()
    const client = await httpLegacy(w.http.url)
    const made = await client.ask('tools/call', { name: 'order', arguments: {}, task: {} })
    const { taskId } = made.result.task
    await succeed({ total: '7' })
    expect((await client.ask('tasks/get', { taskId })).result.status).toBe('completed')
    expectMisfit((await client.ask('tasks/result', { taskId })).result)
  })

  it('is told by both answers of SEP-1686', async () => {
    await open()
    const client = await httpLegacy(w.http.url)
    const _meta = { 'modelcontextprotocol.io/task': { taskId: 'mine-1' } }
    const sent = client.send('tools/call', { name: 'order', arguments: {}, _meta })
    await succeed({ total: '7' })
    expectMisfit((await sent.answer).result)
    const { result } = await client.ask('tasks/get', { taskId: 'mine-1' })
    expect(result.status).toBe('completed')
    expectMisfit((await client.ask('tasks/result', { taskId: 'mine-1' })).result)
  })

  it('is told where a store keeps nothing, and warned of once there too', async () => {
    await open({
      server: { store: sealed({ keys: ['a random text of more than 32 characters'], now: () => 0 }) },
    })
    const { taskId } = (await call()).result
    w.backend.set((await w.run()).runKey, { state: 'succeeded', output: { total: '7' } })
    w.clock.jump(60_000)
    for (let n = 0; n < 2; n += 1) expectMisfit((await get(taskId)).result)
    expect(warn).toHaveBeenCalledTimes(1)
  })

  it('is told of a workflow that ends within its call', async () => {
    await open(SYNC)
    const params = { name: 'order', arguments: { total: '7' } }
    expectMisfit((await send(w.http.url, 'tools/call', params)).result)
    expect(warn).toHaveBeenCalledTimes(1)
    const fits = { name: 'order', arguments: { total: 7 } }
    expect((await send(w.http.url, 'tools/call', fits)).result).toMatchObject({
      structuredContent: { total: 7 },
    })
    expect(warn).toHaveBeenCalledTimes(1)
  })

  it.each<[string, Json | undefined]>([
    ['a list', [7]],
    ['a string', 'seven'],
    ['nothing at all', undefined],
  ])('may be %s', async (_, output) => {
    await open()
    const { taskId } = (await call()).result
    await succeed(output)
    const task = await get(taskId)
    expect([task.status, task.result.isError]).toEqual(['completed', true])
    expect(warn).toHaveBeenCalledTimes(1)
  })
})

it('an output that fits is structured as ever', async () => {
  await open()
  const { taskId } = (await call()).result
  await succeed({ total: 7 })
  const { result } = await get(taskId)
  expect(result).toMatchObject({ structuredContent: { total: 7 } })
  expect(result).not.toHaveProperty('isError')
  expect(warn).not.toHaveBeenCalled()
})

describe('the official clients, which throw at structured content that does not fit', () => {
  it('of 2026-07-28, which knows the schema of a tool that answers at once', async () => {
    await open(SYNC)
    const client = new ModernClient({ name: 'c', version: '0' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new StreamableHTTPClientTransport(new URL(w.http.url)))
    ends.push(() => client.close())
    expect((await client.listTools()).tools[0]?.outputSchema).toEqual(outputSchema)
    expectMisfit(await client.callTool({ name: 'order', arguments: { total: '7' } }))
  })

  it('of 2025-11-25, which knows it too', async () => {
    await open(SYNC)
    const client = new Client({ name: 'c', version: '0' })
    await client.connect(new LegacyTransport(new URL(w.http.url)) as never)
    ends.push(() => client.close())
    expect((await client.listTools()).tools[0]?.outputSchema).toEqual(outputSchema)
    expectMisfit(await client.callTool({ name: 'order', arguments: { total: '7' } }))
  })
})
