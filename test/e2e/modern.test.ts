import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SubscriptionFilter } from '@modelcontextprotocol/client'
import type { StepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { build } from '../bin/build.mjs'
import { root } from '../bin/command.mjs'
import { startFixtureEngine } from '../fixtures/engine/engine.mjs'
import { type Connected, connect, type Person, TASKS } from './connect.js'
import { type Host, type HostOptions, httpHost, stdioHost } from './hosts.js'

/** The official client against real `runbridge serve` processes, whose engine runs in this one. */
let engine: StepFunctionsEmulator
let folder: string

beforeAll(async () => {
  await build({ declarations: false })
  folder = mkdtempSync(join(tmpdir(), 'runbridge-e2e-'))
  engine = await startFixtureEngine()
}, 60_000)

afterAll(async () => {
  await engine?.close()
  rmSync(folder, { recursive: true, force: true })
})

const served = (): HostOptions => ({
  config: join(root, 'test/fixtures/e2e.yaml'),
  env: {
    RUNBRIDGE_STORE: join(folder, 'tasks.sqlite'),
    RUNBRIDGE_ENDPOINT: engine.url,
    RUNBRIDGE_MACHINES: engine.stateMachineArn('x').slice(0, -2),
  },
})

const HOSTS = { http: httpHost, stdio: stdioHost }

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

// Each client over stdio starts two processes: one to learn the revision, and its own.
describe.each(Object.entries(HOSTS))('over %s', { timeout: 60_000 }, (_, hostOf) => {
  let host: Host
  const open: Connected[] = []

  beforeAll(async () => {
    host = hostOf(served)
    await host.start()
  }, 60_000)
  afterAll(() => host.end('SIGTERM'))
  beforeEach(() => engine.resetCalls())
  afterEach(async () => {
    engine.faults.clear()
    await Promise.all(open.splice(0).map((connected) => connected.close()))
  })

  async function connected(
    person: Person = unasked,
    declared: Partial<typeof TASKS> = {},
  ): Promise<Connected> {
    const made = await connect(host.transport(), person, declared)
    open.push(made)
    return made
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
    for (const token of tokens) expect(host.log() + JSON.stringify(outcome)).not.toContain(token)
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
      await host.end(signal)
      await host.start()
      const after = await connected()
      const resumed = await after.session.resumeTask<ToolResult>(reference)
      const { outcome } = await resumed.settle()
      expect(first(outcome)).toBe(`${signal} took 3 s`)
      expect(engine.calls().starts).toHaveLength(1)
    },
  )

  test('subscription: the client hears of every change from the gate to the result', async () => {
    const person: Person = () => ({ action: 'accept', content: { confirm: true } })
    const made = await connected(person, TASKS)
    const heard: string[] = []
    const { fallbackNotificationHandler: session } = made.client
    made.client.fallbackNotificationHandler = async (notification) => {
      if (notification.method === 'notifications/tasks') heard.push(String(notification.params?.status))
      await session?.(notification)
    }
    const execution = await made.session.callTool<ToolResult>('delete_file', { filename: 'c.txt' })
    if (execution.kind !== 'task') throw new Error('expected a task')
    const { taskId } = execution.handle
    const subscription = await made.client.listen({ taskIds: [taskId] } as SubscriptionFilter)
    const { outcome } = await execution.settle()
    expect(first(outcome)).toBe('Deleted c.txt')
    expect(await subscription.closed).toBe('graceful')
    expect(heard[0]).toBe('working')
    expect(heard.filter((status) => status !== 'working')).toEqual(['input_required', 'completed'])
  })

  test('subscription: a task that has ended is told once, in a new process too', async () => {
    const before = await connected(unasked, TASKS)
    const execution = await before.session.callTool<ToolResult>('compute', { seconds: 0, label: 'told' })
    if (execution.kind !== 'task') throw new Error('expected a task')
    await execution.settle()
    await host.end('SIGTERM')
    await host.start()
    const after = await connected(unasked, TASKS)
    const heard: unknown[] = []
    after.client.fallbackNotificationHandler = async ({ params }) => void heard.push(params)
    const filter = { taskIds: [execution.handle.taskId, 'tsk_nobody'] } as SubscriptionFilter
    expect(await (await after.client.listen(filter)).closed).toBe('graceful')
    expect(heard).toMatchObject([{ taskId: execution.handle.taskId, status: 'completed' }])
  })
})
