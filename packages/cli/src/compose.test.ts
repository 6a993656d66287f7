import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { startStepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { compose } from './compose.js'
import type { Composition } from './compose-of.js'
import { parseConfig } from './config/config.js'
import { problemList } from './config/parse-config.js'

declare module 'vitest' {
  interface ProvidedContext {
    postgresAt: string
  }
}

const pass = { StartAt: 'Done', States: { Done: { Type: 'Pass', End: true } } }

let engine: StepFunctionsEmulator
let folder: string
const opened: Composition[] = []
beforeAll(async () => {
  engine = await startStepFunctionsEmulator({
    stateMachines: { Standard: pass, Express: { definition: pass, type: 'EXPRESS' } },
  })
})
afterAll(() => engine.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runbridge-compose-'))
})
afterEach(async () => {
  engine.faults.clear()
  for (const composition of opened.splice(0)) await composition.close()
  await rm(folder, { recursive: true, force: true })
})

const tool = (name: string, machine: string, more = '') =>
  `  - { name: ${name}, description: It passes., stepFunctions: { stateMachineArn: "${engine.stateMachineArn(machine)}" }${more} }`

async function composed(tools: string[], head = 'store: { memory: {} }'): Promise<Composition> {
  const text = [head, `engines: { stepFunctions: { endpoint: "${engine.url}" } }`, 'tools:', ...tools].join(
    '\n',
  )
  const result = parseConfig(text, {})
  if (!result.ok) throw new Error(problemList('test.yaml', result.problems))
  const composition = await compose(result.config, {
    signal: AbortSignal.timeout(10_000),
    awsCredentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  opened.push(composition)
  return composition
}

/** One request of 2026-07-28 as a client without the tasks extension sends it, straight to the handler. */
async function request({ server }: Composition, method: string, params: { name?: string }): Promise<object> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '0' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  }
  const response = await server.handler(
    new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(params.name !== undefined && { 'mcp-name': params.name }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
    }),
  )
  const text = await response.text()
  return JSON.parse(text.match(/^data: (.*)$/m)?.[1] ?? text)
}

describe('the tools', () => {
  it('take what they leave out from the workflow and the defaults', async () => {
    const { tools } = await composed([tool('run', 'Standard'), tool('ask', 'Express')])
    expect(tools).toMatchObject([
      {
        name: 'run',
        taskSupport: 'optional',
        humanInput: 'off',
        holdMs: 45_000,
        inputSchema: { type: 'object' },
      },
      { name: 'ask', taskSupport: 'forbidden' },
    ])
  })

  it('are refused together, each with its reason, when the engine says that they can not be', async () => {
    const tools = [
      tool('gone', 'Nowhere'),
      tool('sync', 'Standard', ', taskSupport: forbidden'),
      tool('asking', 'Express', ', humanInput: model'),
      tool('later', 'Express', ', taskSupport: optional'),
    ]
    const refused = composed(tools)
    await expect(refused).rejects.toThrow(/Tool gone: AWS does not show .*:Nowhere/)
    await expect(refused).rejects.toThrow(
      /Tool sync: `taskSupport: forbidden` is only for .*; write `optional`/,
    )
    await expect(refused).rejects.toThrow(/Tool asking: `humanInput: model` needs a workflow that can wait/)
    await expect(refused).rejects.toThrow(
      /Tool later: .* has nothing to follow .*, so `taskSupport: optional` can not hold/,
    )
  })
})

describe('tools that watch, and equal calls', () => {
  it('watch an execution of their state machine, to its result', async () => {
    const tools = [tool('run', 'Standard'), tool('watch', 'Standard', ', attach: true')]
    const composition = await composed(tools)
    const calls = engine.executions().length
    await request(composition, 'tools/call', { name: 'run', arguments: { order: 7 } } as object)
    const started = engine.executions()
    expect(started).toHaveLength(calls + 1)
    const run = started.at(-1)?.executionArn
    const watched = await request(composition, 'tools/call', { name: 'watch', arguments: { run } } as object)
    expect(watched).toMatchObject({ result: { structuredContent: { order: 7 } } })
    const foreign = { name: 'watch', arguments: { run: run?.replace(':Standard:', ':Other:') } } as object
    expect(await request(composition, 'tools/call', foreign)).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('no execution of') }] },
    })
    expect(engine.executions()).toHaveLength(calls + 1)
  })

  it('are told from the configuration', async () => {
    const input = 'input: { type: object, properties: { order: { type: integer } } }'
    const { tools } = await composed([
      tool('keyed', 'Standard', `, ${input}, idempotencyKey: [order]`),
      tool('stopping', 'Standard', ', attach: true, cancelAttached: true'),
    ])
    expect(tools).toMatchObject([
      { idempotencyKey: ['order'] },
      { attach: { argument: 'run', cancel: true }, inputSchema: { required: ['run'] } },
    ])
    await expect(
      composed([tool('keyed', 'Standard', `, ${input}, idempotencyKey: [ordre]`)]),
    ).rejects.toThrow(/Tool keyed: `idempotencyKey` names ordre, which is no argument/)
  })
})

describe('the store', () => {
  it('is a file in a folder that is made for it and that only its owner reads', async () => {
    const path = join(folder, 'state/deeper/tasks.sqlite')
    await composed([tool('run', 'Standard')], `store: { sqlite: { path: "${path}" } }`)
    expect((await stat(path)).isFile()).toBe(true)
    expect((await stat(join(folder, 'state'))).mode & 0o077).toBe(0)
  })

  const sealedHead = `store: { sealed: { keys: ["${'k'.repeat(32)}"] } }`

  it('is refused for what it can not do for a tool or an event, and says why', async () => {
    const input = 'input: { type: object, properties: { order: { type: integer } } }'
    const keyed = tool('keyed', 'Standard', `, ${input}, idempotencyKey: [order]`)
    await expect(composed([keyed], sealedHead)).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringMatching(
        /^keyed: idempotencyKey has no effect: the sealed store keeps no records/,
      ),
    })
    await composed([tool('run', 'Standard', ', confirm: { message: Sure? }')], sealedHead)
  })

  it('that keeps nothing serves every process with its key', async () => {
    const [one, other] = [
      await composed([tool('run', 'Standard')], sealedHead),
      await composed([tool('run', 'Standard')], sealedHead),
    ]
    const outcome = await one.server.service.create({
      owner: 'local',
      tool: 'run',
      form: 'ext-tasks',
      input: {},
    })
    if (outcome.kind !== 'task') throw outcome.error
    const signal = AbortSignal.timeout(10_000)
    const { record } = await other.server.service.wait(outcome.task.record, { waitMs: 10_000, signal })
    expect(record.state).toBe('succeeded')
    await expect(other.server.unready()).resolves.toBeUndefined()
  })

  it('of DynamoDB is looked for where the configuration says', async () => {
    const head = 'store: { dynamodb: { table: tasks, region: eu-north-1, endpoint: "http://127.0.0.1:1" } }'
    await expect(composed([tool('run', 'Standard')], head)).rejects.toMatchObject({
      message: expect.stringMatching(/^The table tasks (can’t be reached|refuses the AWS credentials)/),
    })
  })
})

describe('the key that seals questions', () => {
  const confirmed = () => [tool('run', 'Standard', ', confirm: { message: Sure? }')]

  async function answerElsewhere(heads: [string, string]): Promise<object> {
    const [asks, answers] = [await composed(confirmed(), heads[0]), await composed(confirmed(), heads[1])]
    const asked = (await request(asks, 'tools/call', { name: 'run', arguments: {} } as object)) as {
      result: { resultType: string; requestState: string }
    }
    expect(asked.result.resultType).toBe('input_required')
    return request(answers, 'tools/call', {
      name: 'run',
      arguments: {},
      requestState: asked.result.requestState,
      inputResponses: { confirm: { action: 'accept', content: { confirm: true } } },
    } as object)
  }

  it('is shared by all processes on one SQLite file', async () => {
    const head = `store: { sqlite: { path: "${join(folder, 'tasks.sqlite')}" } }`
    expect(await answerElsewhere([head, head])).toHaveProperty('result.content')
  })

  it('is shared by all processes on one PostgreSQL', async () => {
    const url = await (await fetch(inject('postgresAt'))).text()
    const schema = `test_${randomBytes(8).toString('hex')}`
    const head = `store: { postgres: { url: "${url}", schema: ${schema} } }`
    expect(await answerElsewhere([head, head])).toHaveProperty('result.content')
    for (const composition of opened.splice(0)) await composition.close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`drop schema ${schema} cascade`)
    await client.end()
  })

  it('is shared by all processes with one key of the sealed store', async () => {
    const head = `store: { sealed: { keys: ["${'k'.repeat(32)}"] } }`
    expect(await answerElsewhere([head, head])).toHaveProperty('result.content')
  })

  it('is shared by servers with the same secret', async () => {
    const head = `store: { memory: {} }\nserver: { secret: "${'s'.repeat(32)}" }`
    expect(await answerElsewhere([head, head])).toHaveProperty('result.content')
  })

  it('is not shared otherwise', async () => {
    const head = 'store: { memory: {} }'
    expect(await answerElsewhere([head, head])).toHaveProperty('error.code', -32602)
  })
})
