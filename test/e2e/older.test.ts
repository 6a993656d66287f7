import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  type ElicitResult,
  TaskStatusNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { StepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { build } from '../bin/build.mjs'
import { root } from '../bin/command.mjs'
import { type Served, serve, serveCommand } from '../bin/serve.mjs'
import { startFixtureEngine } from '../fixtures/engine/engine.mjs'

/** The client of the v1 SDK, which speaks 2025-11-25, against real `runbridge serve` processes. */
let engine: StepFunctionsEmulator
let folder: string
const ends: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  await build({ declarations: false })
  folder = mkdtempSync(join(tmpdir(), 'runbridge-older-'))
  engine = await startFixtureEngine()
}, 60_000)
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})
afterAll(async () => {
  await engine?.close()
  rmSync(folder, { recursive: true, force: true })
})

const options = () => ({
  config: join(root, 'test/fixtures/e2e.yaml'),
  env: {
    RUNBRIDGE_STORE: join(folder, 'tasks.sqlite'),
    RUNBRIDGE_ENDPOINT: engine.url,
    RUNBRIDGE_MACHINES: engine.stateMachineArn('x').slice(0, -2),
  },
})

type Person = (message: string) => ElicitResult
const agrees: Person = () => ({ action: 'accept', content: { confirm: true } })
const unasked: Person = (message) => {
  throw new Error(`Nobody expected the question ${message}`)
}

async function started(): Promise<Served> {
  const server = await serve(options())
  ends.push(() => server.end())
  return server
}

const TRANSPORTS = {
  http: async () => new StreamableHTTPClientTransport(new URL((await started()).url)),
  stdio: async () => {
    const { command, args, cwd, env } = serveCommand({ ...options(), flags: ['--stdio'] })
    return new StdioClientTransport({
      command,
      args,
      cwd,
      env: env as Record<string, string>,
      stderr: 'ignore',
    })
  },
} as const

async function connect(transport: Transport, person: Person = unasked): Promise<Client> {
  const client = new Client(
    { name: 'runbridge-e2e', version: '0.0.0' },
    { capabilities: { elicitation: { form: {} } } },
  )
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => person(params.message))
  // Its declarations do not follow `exactOptionalPropertyTypes`.
  await client.connect(transport)
  ends.push(() => client.close())
  // So that it knows which tools are tasks.
  await client.listTools()
  return client
}

/** A call with tasks to its end: the kinds of its messages, and the last of them. */
async function stream(client: Client, name: string, args: Record<string, unknown> = {}) {
  const statuses: string[] = []
  let taskId = ''
  let text: string | undefined
  let error: string | undefined
  for await (const message of client.experimental.tasks.callToolStream({ name, arguments: args })) {
    if (message.type === 'taskCreated') taskId = message.task.taskId
    if (message.type === 'taskStatus' && statuses.at(-1) !== message.task.status)
      statuses.push(message.task.status)
    if (message.type === 'result') {
      const [first] = message.result.content as { text?: string }[]
      text = first?.text
    }
    if (message.type === 'error') error = message.error.message
  }
  return { taskId, statuses, text, error }
}

describe.each(Object.entries(TRANSPORTS))('over %s', { timeout: 60_000 }, (kind, transportOf) => {
  test('tools: which are tasks is shown, and the plain call is held', async () => {
    const client = await connect(await transportOf())
    expect(client.getServerCapabilities()?.tasks).toMatchObject({
      cancel: {},
      requests: { tools: { call: {} } },
    })
    const { tools } = await client.listTools()
    const support = Object.fromEntries(tools.map(({ name, execution }) => [name, execution?.taskSupport]))
    expect(support).toMatchObject({ greet: 'forbidden', compute: 'optional', fail: 'required' })
    const greeted = await client.callTool({ name: 'greet', arguments: { name: 'Ada' } })
    expect(greeted.content).toMatchObject([{ text: 'Hello, Ada!' }, {}])
    const held = await client.callTool({ name: 'compute', arguments: { seconds: 1, label: 'held' } })
    expect(held.content).toMatchObject([{ text: 'held took 1 s' }, {}])
  })

  test('a task is made, polled, told of and fetched; its run was started once', async () => {
    engine.resetCalls()
    const client = await connect(await transportOf())
    const told: string[] = []
    client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void told.push(params.status))
    const { taskId, statuses, text } = await stream(client, 'compute', { seconds: 2, label: 'once' })
    expect([taskId.startsWith('tsk_'), statuses, text]).toEqual([
      true,
      ['working', 'completed'],
      'once took 2 s',
    ])
    expect(engine.calls().starts.map(({ outcome }) => outcome)).toEqual(['started'])
    expect(told).toEqual(['completed'])
  })

  test('the question of a task reaches the person within tasks/result', async () => {
    const asked: string[] = []
    const client = await connect(await transportOf(), (message) => {
      asked.push(message)
      return agrees(message)
    })
    const { statuses, text } = await stream(client, 'delete_file', { filename: 'a.txt' })
    expect(asked).toEqual(['Delete the file?'])
    expect(statuses.at(-1)).toBe('input_required')
    expect(text).toBe('Deleted a.txt')
  })

  test('the question of a plain call reaches the person on its stream', async () => {
    const client = await connect(await transportOf(), agrees)
    const { content } = await client.callTool({ name: 'delete_file', arguments: { filename: 'b.txt' } })
    expect(content).toMatchObject([{ text: 'Deleted b.txt' }, {}])
  })

  test('a confirmation comes first; declined, nothing starts', async () => {
    engine.resetCalls()
    let person: Person = () => ({ action: 'decline' })
    const client = await connect(await transportOf(), (message) => person(message))
    expect((await stream(client, 'welcome', { name: 'Ada' })).error).toContain('declined')
    expect(engine.calls().starts).toEqual([])
    person = agrees
    expect((await stream(client, 'welcome', { name: 'Ada' })).text).toContain('Ada')
  })

  test('a failed run is failed, its result still there; a lost one is an error', async () => {
    const client = await connect(await transportOf())
    const failed = await stream(client, 'fail')
    expect(failed.statuses.at(-1)).toBe('failed')
    expect(failed.error).toContain('failed')
    const result = await client.experimental.tasks.getTaskResult(failed.taskId, CallToolResultSchema)
    expect(result.isError).toBe(true)
    const { statusMessage } = await client.experimental.tasks.getTask(failed.taskId)
    expect(statusMessage).toContain('at step')
    const lost = await stream(client, 'vanish')
    await expect(
      client.experimental.tasks.getTaskResult(lost.taskId, CallToolResultSchema),
    ).rejects.toMatchObject({ code: -32603 })
  })

  test('a task that is cancelled stays so, and its run is stopped', async () => {
    engine.resetCalls()
    const client = await connect(await transportOf())
    let taskId = ''
    for await (const message of client.experimental.tasks.callToolStream({
      name: 'compute',
      arguments: { seconds: 60, label: 'never' },
    })) {
      if (message.type !== 'taskCreated') continue
      taskId = message.task.taskId
      break
    }
    expect((await client.experimental.tasks.cancelTask(taskId)).status).toBe('cancelled')
    await expect(client.experimental.tasks.cancelTask(taskId)).rejects.toMatchObject({ code: -32602 })
    await expect(client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)).rejects.toMatchObject(
      { code: -32800 },
    )
    expect(engine.calls().byOperation.StopExecution).toBe(1)
  })

  test('SEP-1686 by the same client: its own id, created told, the call answered, a second one refused', async () => {
    const client = await connect(await transportOf())
    const taskId = `mine-${kind}`
    const created: unknown[] = []
    client.fallbackNotificationHandler = async (notification) => void created.push(notification)
    const _meta = { 'modelcontextprotocol.io/task': { taskId, keepAlive: 600_000 } }
    const params = { name: 'compute', arguments: { seconds: 1, label: 'own' }, _meta }
    const call = { method: 'tools/call' as const, params }
    const result = await client.request(call, CallToolResultSchema)
    expect(result.content[0]).toMatchObject({ text: 'own took 1 s' })
    expect(result._meta).toMatchObject({ 'modelcontextprotocol.io/related-task': { taskId } })
    expect(created).toMatchObject([
      {
        method: 'notifications/tasks/created',
        params: { _meta: { 'modelcontextprotocol.io/related-task': { taskId } } },
      },
    ])
    await expect(client.request(call, CallToolResultSchema)).rejects.toMatchObject({ code: -32602 })
  })
})

test('a session goes on after the server was killed, and so does its task', { timeout: 60_000 }, async () => {
  const first = await serve(options())
  const transport = new StreamableHTTPClientTransport(new URL(first.url))
  const client = new Client(
    { name: 'runbridge-e2e', version: '0.0.0' },
    { capabilities: { elicitation: { form: {} } } },
  )
  await client.connect(transport)
  await client.listTools()
  let taskId = ''
  for await (const message of client.experimental.tasks.callToolStream({
    name: 'delete_file',
    arguments: { filename: 'c.txt' },
  })) {
    if (message.type !== 'taskCreated') continue
    taskId = message.task.taskId
    break
  }
  const { sessionId = '' } = transport
  await first.end('SIGKILL')
  await client.close().catch(() => undefined)
  const second = await started()
  const resumed = new StreamableHTTPClientTransport(new URL(second.url), { sessionId })
  resumed.setProtocolVersion('2025-11-25')
  const again = await connect(resumed, agrees)
  const { content } = await again.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)
  expect(content[0]).toMatchObject({ text: 'Deleted c.txt' })
})
