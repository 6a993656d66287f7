import { Client, type JSONRPCRequest, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  createTaskSessionFromClient,
  type RawClientDispatch,
  TaskFailedError,
} from '@modelcontextprotocol/ext-tasks/client'
import { afterEach, describe, expect, it } from 'vitest'
import { type World, type WorldOptions, world } from './testing/world.js'

let w: World
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function open(options: WorldOptions = {}) {
  w = await world(options)
  ends.push(() => w.close())
}

const clientInfo = { name: 'official', version: '0' }
const capabilities = { elicitation: { form: {} } }

/** The official client; `person` answers what it is asked by the multi round-trip or by a task. */
async function connect(person: (message: string) => object = () => ({ action: 'cancel' })) {
  const url = new URL(w.http.url)
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: 'auto' } })
  client.setRequestHandler('elicitation/create', async ({ params }) => person(params.message) as never)
  await client.connect(new StreamableHTTPClientTransport(url))
  const raw = new StreamableHTTPClientTransport(url)
  await raw.start()
  ends.push(async () => {
    await raw.close()
    await client.close()
  })
  const session = createTaskSessionFromClient(client, {
    endpointId: 'test',
    rawDispatch: rawDispatch(raw),
    v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo, clientCapabilities: capabilities },
    onInputRequest: async (request) => person(String(request.params?.message)) as never,
  })
  return { client, session }
}

function rawDispatch(transport: StreamableHTTPClientTransport): RawClientDispatch {
  type Answer = Awaited<ReturnType<RawClientDispatch>>
  const pending = new Map<unknown, (answer: Answer) => void>()
  transport.onmessage = (message) => {
    if ('method' in message) return
    const kind = 'error' in message ? 'error' : 'result'
    pending.get(message.id)?.({ kind, ...message } as unknown as Answer)
  }
  return (request) => {
    const id = `raw-${pending.size}`
    return new Promise((resolve, reject) => {
      pending.set(id, resolve)
      transport.send({ ...(request as object), jsonrpc: '2.0', id } as JSONRPCRequest).catch(reject)
    })
  }
}

describe('the official client with tasks', () => {
  it('a task to its result', async () => {
    await open()
    const { session } = await connect()
    const execution = await session.callTool('order', { n: 1 })
    expect(execution.kind).toBe('task')
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: { total: 7 } }))
    const { outcome } = await execution.settle()
    expect(outcome).toMatchObject({ result: { structuredContent: { total: 7 } } })
  })

  it('a task whose output does not fit the output schema, as a tool error', async () => {
    const outputSchema = { type: 'object', properties: { total: { type: 'number' } } }
    await open({ tools: [{ name: 'order', outputSchema }] })
    const { client, session } = await connect()
    await client.listTools()
    const execution = await session.callTool('order', { n: 1 })
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: { total: '7' } }))
    const { outcome } = await execution.settle()
    expect(outcome).toMatchObject({ status: 'completed', result: { isError: true } })
    expect(JSON.stringify(outcome)).toContain('/total must be number')
  })

  it('an immediate result', async () => {
    await open({ tools: [{ name: 'greet' }], capabilities: { execution: 'call' } })
    const { session } = await connect()
    const execution = await session.callTool('greet', { name: 'Ada' })
    expect(execution.kind).toBe('immediate')
    expect((await execution.settle()).outcome).toMatchObject({
      result: { structuredContent: { name: 'Ada' } },
    })
  })

  it('two gates, each answered', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const asked: string[] = []
    const { session } = await connect((message) => {
      asked.push(message)
      return { action: 'accept', content: { approve: true } }
    })
    const execution = await session.callTool('deploy', {})
    const run = await w.run()
    const settling = execution.settle()
    await w.set(run, () => {
      w.backend.openGate(run.runKey, { id: 'a' })
      w.backend.openGate(run.runKey, { id: 'b' })
    })
    while (run.answers.size < 2) await new Promise((resolve) => setImmediate(resolve))
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'deployed' }))
    expect((await settling).outcome).toMatchObject({ result: { content: [{ text: 'deployed' }, {}] } })
    expect(asked.sort()).toEqual(['Approve a?', 'Approve b?'])
  })

  it('a confirmation before the task', async () => {
    await open({ tools: [{ name: 'delete', confirm: { message: 'Delete {what}?' } }] })
    const asked: string[] = []
    const { session } = await connect((message) => {
      asked.push(message)
      return { action: 'accept', content: { confirm: true } }
    })
    const execution = await session.callTool('delete', { what: 'it' })
    expect([execution.kind, asked]).toEqual(['task', ['Delete it?']])
    await execution.detach()
  })

  it('a failed run is a tool error, a lost one a failure, a cancelled one cancelled', async () => {
    await open()
    const { session } = await connect()
    const outcomes: unknown[] = []
    for (const [index, state] of (['failed', 'lost', 'cancelled'] as const).entries()) {
      const execution = await session.callTool('order', {})
      const run = await w.run(index)
      await w.set(run, () =>
        w.backend.set(run.runKey, { state, error: { code: 'E', message: 'm', step: 'Pay' } }),
      )
      outcomes.push((await execution.settle()).outcome)
    }
    expect(outcomes[0]).toMatchObject({ result: { isError: true } })
    expect(JSON.stringify(outcomes[0])).toContain('Pay')
    expect(outcomes[1]).toMatchObject({ error: expect.any(TaskFailedError) })
    expect(outcomes[2]).toMatchObject({ status: 'cancelled' })
  })

  it('cancels by tasks/cancel', async () => {
    await open()
    const { session } = await connect()
    const execution = await session.callTool('order', {})
    await execution.cancel()
    expect((await w.run()).cancels).toHaveLength(1)
  })
})

describe('the official client without tasks', () => {
  it('gets the result within the hold, with progress, and answers a gate on the way', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' }] })
    const { client } = await connect(() => ({ action: 'accept', content: { approve: true } }))
    const progress: number[] = []
    const answering = client.callTool(
      { name: 'deploy', arguments: {} },
      { onprogress: (update) => void progress.push(update.progress) },
    )
    const run = await w.run()
    await w.clock.advance(11_000)
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    while (!run.answers.has('a')) await new Promise((resolve) => setImmediate(resolve))
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'deployed' }))
    expect((await answering).content).toMatchObject([{ text: 'deployed' }, {}])
    expect(progress.length).toBeGreaterThan(0)
    expect(w.backend.executions).toHaveLength(1)
  })

  it('of the 2025 era gets the plain path', async () => {
    await open({ tools: [{ name: 'order', holdMs: 0 }] })
    const client = new Client(clientInfo, {})
    await client.connect(new StreamableHTTPClientTransport(new URL(w.http.url)))
    ends.push(() => client.close())
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'order',
      'task_status',
      'task_answer',
      'task_cancel',
      'task_list',
    ])
    const { content } = await client.callTool({ name: 'order', arguments: {} })
    expect(content).toMatchObject([{ text: expect.stringContaining('task_status') }])
  })
})
