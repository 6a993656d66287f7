import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { build } from '../bin/build.mjs'
import { root } from '../bin/command.mjs'
import { type Served, serve } from '../bin/serve.mjs'
import { startFixtureEngine } from '../fixtures/engine/engine.mjs'
import { type Connected, connect, type Person } from './connect.js'

/** The official client against a real `runbridge serve` process, whose engine runs in this one. */
let engine: StepFunctionsEmulator
let folder: string
let server: Served
const open: Connected[] = []

beforeAll(async () => {
  await build({ declarations: false })
  folder = mkdtempSync(join(tmpdir(), 'runbridge-e2e-'))
  engine = await startFixtureEngine()
  server = await start()
}, 60_000)

afterAll(async () => {
  expect(await server?.end()).toBe(0)
  await engine?.close()
  rmSync(folder, { recursive: true, force: true })
})

beforeEach(() => engine.resetCalls())
afterEach(async () => {
  engine.faults.clear()
  await Promise.all(open.splice(0).map((connected) => connected.close()))
})

function start(): Promise<Served> {
  return serve({
    config: join(root, 'test/fixtures/e2e.yaml'),
    env: {
      RUNBRIDGE_STORE: join(folder, 'tasks.sqlite'),
      RUNBRIDGE_ENDPOINT: engine.url,
      RUNBRIDGE_MACHINES: engine.stateMachineArn('x').slice(0, -2),
    },
  })
}

async function connected(person: Person = unasked): Promise<Connected> {
  const made = await connect(server.url, person)
  open.push(made)
  return made
}

function unasked(message: string): never {
  throw new Error(`Nobody expected the question ${message}`)
}

interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly isError?: boolean
}

/** Calls the tool as a task or not, as the server chooses, and follows it to its end. */
async function call({ session }: Connected, name: string, args: Record<string, string | number> = {}) {
  const execution = await session.callTool<ToolResult>(name, { ...args })
  const states: string[] = []
  const { outcome } = await execution.settle({
    onEvent: (event) => {
      if (event.type === 'task' && states.at(-1) !== event.task.status) states.push(event.task.status)
    },
  })
  return { kind: execution.kind, outcome, states }
}

function first(outcome: Awaited<ReturnType<typeof call>>['outcome']): string | undefined {
  return outcome.status === 'completed' ? outcome.result.content[0]?.text : undefined
}

test('immediate: a synchronous tool answers in the call', async () => {
  const { kind, outcome } = await call(await connected(), 'greet', { name: 'Ada' })
  expect(kind).toBe('immediate')
  expect(first(outcome)).toBe('Hello, Ada!')
})

test('task: a run is followed to its result, and was started once', async () => {
  const { kind, outcome, states } = await call(await connected(), 'compute', { seconds: 1, label: 'once' })
  expect(kind).toBe('task')
  expect(states[0]).toBe('working')
  expect(first(outcome)).toBe('once took 1 s')
  expect(engine.calls().starts.map(({ outcome }) => outcome)).toEqual(['started'])
})

test('without tasks: the call is held, and its result is that of the run', async () => {
  const { client } = await connected()
  const result = await client.callTool({ name: 'compute', arguments: { seconds: 1, label: 'held' } })
  expect(result.content).toMatchObject([{ type: 'text', text: 'held took 1 s' }, {}])
})

test('without tasks: a tool that needs them is refused before anything starts', async () => {
  const { client } = await connected()
  await expect(client.callTool({ name: 'fail', arguments: {} })).rejects.toMatchObject({ code: -32021 })
  expect(engine.calls().starts).toEqual([])
})

test('gate: the question reaches the person, the answer the engine', async () => {
  const tokens: string[] = []
  const made = await connected(() => {
    tokens.push(...engine.openTasks().map(({ token }) => token))
    return { action: 'accept', content: { confirm: true } }
  })
  const { outcome, states } = await call(made, 'delete_file', { filename: 'a.txt' })
  expect(made.asked).toEqual(['Delete the file?'])
  expect(states).toContain('input_required')
  expect(first(outcome)).toBe('Deleted a.txt')
  expect(tokens).toHaveLength(1)
  for (const token of tokens) expect(server.log() + JSON.stringify(outcome)).not.toContain(token)
})

test('gate: a refusal fails the run, as the state machine says', async () => {
  const made = await connected(() => ({ action: 'decline' }))
  const { outcome } = await call(made, 'delete_file', { filename: 'b.txt' })
  expect(outcome).toMatchObject({ status: 'completed', result: { isError: true } })
})

test('two gates: both questions are open at once and both answers count', async () => {
  const made = await connected((message) => ({
    action: 'accept',
    content: message === 'What is the name?' ? { name: 'Grace' } : { confirm: true },
  }))
  const { outcome } = await call(made, 'register')
  expect([...made.asked].sort()).toEqual(['Do you agree?', 'What is the name?'])
  expect(JSON.parse(first(outcome) ?? '')).toEqual({ name: { name: 'Grace' }, approval: { confirm: true } })
})

test('confirm: nothing starts before the person agreed, then one run does', async () => {
  const startsWhenAsked: number[] = []
  const made = await connected(() => {
    startsWhenAsked.push(engine.calls().starts.length)
    return { action: 'accept', content: { confirm: true } }
  })
  const { kind, outcome } = await call(made, 'welcome', { name: 'Linus' })
  expect(made.asked).toEqual(['Welcome Linus?'])
  expect(startsWhenAsked).toEqual([0])
  expect(kind).toBe('task')
  expect(first(outcome)).toBe('Hello, Linus!')
  expect(engine.calls().starts).toHaveLength(1)
})

test('confirm: declined, nothing starts', async () => {
  const made = await connected(() => ({ action: 'decline' }))
  await call(made, 'welcome', { name: 'Nobody' }).catch(() => undefined)
  expect(made.asked).toEqual(['Welcome Nobody?'])
  expect(engine.calls().starts).toEqual([])
})

test('tool error: a failed run is a completed task whose result is an error that names the step', async () => {
  const { outcome } = await call(await connected(), 'fail')
  expect(outcome).toMatchObject({ status: 'completed', result: { isError: true } })
  expect(JSON.stringify(outcome)).toContain('Break')
  expect(JSON.stringify(outcome)).toContain('The job was asked to fail and did')
})

test('engine error: a refused start says what is missing, and leaves no task', async () => {
  engine.faults.next('StartExecution', { kind: 'denied' })
  const made = await connected()
  const told = await call(made, 'compute', { seconds: 0, label: 'denied' }).then(
    ({ outcome }) => JSON.stringify(outcome),
    (error: unknown) => String(error),
  )
  expect(told).toContain('states:StartExecution')
  expect(engine.executions().some(({ input }) => input.includes('denied'))).toBe(false)
})

test('engine error: a run that the engine forgot is failed, with an error and no result', async () => {
  const { outcome } = await call(await connected(), 'vanish')
  expect(outcome).toMatchObject({ status: 'failed', error: { code: -32603 } })
})

test('engine error: an outage changes nothing but the message', async () => {
  const { session } = await connected()
  const execution = await session.callTool<ToolResult>('compute', { seconds: 2, label: 'outage' })
  if (execution.kind !== 'task') throw new Error('expected a task')
  engine.faults.always('DescribeExecution', { kind: 'status', status: 503 })
  const seen: string[] = []
  const { outcome } = await execution.settle({
    onEvent: (event) => {
      if (event.type !== 'task') return
      const { status, statusMessage = '' } = event.task
      seen.push(`${status}: ${statusMessage}`)
      if (/not readable since/i.test(statusMessage)) engine.faults.clear()
    },
  })
  const during = seen.findIndex((line) => /not readable since/i.test(line))
  expect(seen[during]).toMatch(/^working: /)
  expect(seen.slice(0, during).every((line) => line.startsWith('working: '))).toBe(true)
  expect(outcome).toMatchObject({ status: 'completed' })
  expect(first(outcome)).toBe('outage took 2 s')
})

test('cancel: the engine stops the run, then the task is cancelled', async () => {
  const { session } = await connected()
  const execution = await session.callTool<ToolResult>('compute', { seconds: 60, label: 'stopped' })
  await execution.cancel()
  expect((await execution.result()).status).toBe('cancelled')
  expect(engine.executions().find(({ input }) => input.includes('stopped'))?.status).toBe('ABORTED')
})

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'resume: after %s and a new process on the same file, the task goes on',
  async (signal) => {
    const before = await connected()
    const execution = await before.session.callTool<ToolResult>('compute', { seconds: 3, label: signal })
    if (execution.kind !== 'task') throw new Error('expected a task')
    const reference = execution.serializeReference()
    await execution.detach()
    expect(await server.end(signal)).toBe(signal === 'SIGTERM' ? 0 : null)
    server = await start()
    const after = await connected()
    const resumed = await after.session.resumeTask<ToolResult>(reference)
    const { outcome } = await resumed.settle()
    expect(first(outcome)).toBe(`${signal} took 3 s`)
    expect(engine.calls().starts).toHaveLength(1)
  },
)
