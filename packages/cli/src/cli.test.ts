import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StepFunctionsEmulator, startStepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connect } from './client/connect.js'
import { runTool } from './client/run-tool.js'
import { built, libraryExample, main, type Started, startNode } from './testing/start-node.js'

const definitions = {
  Echo: { StartAt: 'Done', States: { Done: { Type: 'Pass', End: true } } },
  Approve: {
    StartAt: 'Ask',
    States: {
      Ask: {
        Type: 'Task',
        Resource: 'arn:aws:states:::sqs:sendMessage.waitForTaskToken',
        Parameters: { MessageBody: { 'token.$': '$$.Task.Token' } },
        End: true,
      },
    },
  },
}

let engine: StepFunctionsEmulator
let folder: string
let config: string
beforeAll(async () => {
  await built()
  engine = await startStepFunctionsEmulator({ stateMachines: definitions })
}, 60_000)
afterAll(() => engine.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runbridge-cli-'))
  config = join(folder, 'runbridge.yaml')
  await writeFile(config, yaml())
})
afterEach(async () => {
  engine.faults.clear()
  await rm(folder, { recursive: true, force: true })
})

const yaml = (more = '') => `
server: { port: 0 }
engines: { stepFunctions: { endpoint: "${engine.url}" } }
tools:
  - name: echo
    description: Gives back what it got.
    stepFunctions: { stateMachineArn: "${engine.stateMachineArn('Echo')}" }
  - name: approve
    description: Waits for a person.
    stepFunctions:
      stateMachineArn: "${engine.stateMachineArn('Approve')}"
      gates: { Ask: { prompt: May it? } }
    humanInput: elicitation
${more}`

function runbridge(...args: string[]): Started {
  return startNode([main, ...args], { cwd: folder })
}

const URL_PATTERN = /http:\/\/127\.0\.0\.1:\d+\/mcp/

describe('runbridge serve', () => {
  it('answers the official client, and drains at SIGTERM with status 0', async () => {
    const server = runbridge('serve')
    const url = await server.said(URL_PATTERN)
    expect((await fetch(new URL('/readyz', url))).status).toBe(200)
    const connection = await connect(url)
    const end = await runTool(connection.session, 'echo', { word: 'hello' })
    await connection.close()
    expect(end).toMatchObject({ status: 'completed', isError: false, structured: { word: 'hello' } })
    expect(end.taskId).toBeDefined()
    server.kill('SIGTERM')
    const { status, out, err } = await server.ended
    expect({ status, out }).toEqual({ status: 0, out: `runbridge serves echo, approve at ${url}\n` })
    expect(
      err
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toContain('ended')
  })

  it('takes the port of the command line', async () => {
    await writeFile(config, yaml().replace('port: 0', 'port: 1'))
    const server = runbridge('serve', '--port', '0')
    await server.said(URL_PATTERN)
    server.kill('SIGINT')
    expect((await server.ended).status).toBe(0)
  })

  it('ends with status 0 when it is told to before it serves', async () => {
    engine.resetCalls()
    engine.faults.always('DescribeStateMachine', { kind: 'hang' })
    const server = runbridge('serve')
    const asked = () => engine.calls().byOperation.DescribeStateMachine ?? 0
    await expect.poll(asked, { timeout: 15_000 }).toBeGreaterThan(0)
    server.kill('SIGTERM')
    const { status, err } = await server.ended
    expect(status).toBe(0)
    expect(JSON.parse(err)).toMatchObject({ msg: 'ended before it served' })
  })

  it('ends with status 2 for a wrong file', async () => {
    await writeFile(config, yaml('    taskSuport: required\n'))
    expect(await runbridge('serve').ended).toEqual({
      status: 2,
      out: '',
      err: 'runbridge: runbridge.yaml has one problem:\n  runbridge.yaml:14:5  tools[1].taskSuport: unknown key; did you mean `taskSupport`?\n',
    })
  })

  it('ends with status 1 when the engine does not let it look', async () => {
    engine.faults.always('DescribeStateMachine', { kind: 'denied' })
    const { status, err } = await runbridge('serve').ended
    expect(status).toBe(1)
    expect(err).toMatch(/Tool echo: AWS does not allow states:DescribeStateMachine/)
    expect(err).toMatch(/Tool approve: AWS does not allow/)
  })
})

describe('runbridge serve --stdio', () => {
  const request = (id: number, method: string, params: object = {}) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'cli-test', version: '0' },
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    }
    return `${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })}\n`
  }
  const call = request(1, 'tools/call', { name: 'echo', arguments: { word: 'hello' } })
  const messages = (out: string) =>
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))

  it('writes nothing but protocol, and ends with its input, status 0, everything answered', async () => {
    const server = runbridge('serve', '--stdio')
    server.write(request(0, 'tools/list') + call)
    server.endInput()
    const { status, out, err } = await server.ended
    expect(status).toBe(0)
    expect(
      messages(out)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([0, 1])
    expect(messages(out).find(({ id }) => id === 1).result.resultType).toBe('task')
    const logged = messages(err).map(({ msg }) => msg)
    expect(logged).toContain('runbridge serves echo, approve over stdio')
    expect(logged.at(-1)).toBe('ended')
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('drains at %s, with its input still open', async (signal) => {
    const server = runbridge('serve', '--stdio')
    server.write(call)
    await server.said(/"resultType":"task"/)
    server.kill(signal)
    const { status, out } = await server.ended
    expect(status).toBe(0)
    expect(messages(out)).toHaveLength(1)
  })

  it('ends when nobody reads it any more', async () => {
    const server = runbridge('serve', '--stdio')
    server.write(call)
    await server.said(/"resultType":"task"/)
    server.closeOutput()
    server.write(request(2, 'tools/list') + request(3, 'tools/list'))
    expect((await server.ended).status).toBe(0)
  })

  it('several on one file share its tasks', async () => {
    const [one, two] = [runbridge('serve', '--stdio'), runbridge('serve', '--stdio')]
    one.write(call)
    const taskId = /tsk_[\w-]+/.exec(await one.said(/"taskId":"[^"]+"/))?.[0] ?? ''
    const listen = request(5, 'subscriptions/listen', { notifications: { taskIds: [taskId] } })
    two.write(listen + request(6, 'tasks/get', { taskId }))
    await two.said(/"id":6/)
    await two.said(/"method":"notifications\/tasks".*"status":"completed"/)
    for (const server of [one, two]) {
      server.endInput()
      expect((await server.ended).status).toBe(0)
    }
  })

  it('says on standard error alone what is wrong with its file, status 2', async () => {
    await writeFile(config, yaml('    taskSuport: required\n'))
    const { status, out, err } = await runbridge('serve', '--stdio').ended
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toContain('unknown key')
  })
})

describe('runbridge check', () => {
  it('is content when nothing is missing', async () => {
    const { status, out } = await runbridge('check').ended
    expect(out).toContain('ok       Standard: tasks optional, asks a person by elicitation')
    expect(out).toContain('All tools can be served.')
    expect(out).not.toContain('MISSING')
    expect(status).toBe(0)
    expect(engine.executions().filter(({ status }) => status === 'RUNNING')).toEqual([])
  })

  it.each([
    ['StopExecution', 2],
    ['GetExecutionHistory', 2],
    ['DescribeExecution', 2],
  ] as const)('names states:%s when it is denied, with status 1', async (operation, tools) => {
    engine.faults.always(operation, { kind: 'denied' })
    const { status, out } = await runbridge('check').ended
    expect(out.match(new RegExp(`MISSING  states:${operation} on arn:`, 'g'))).toHaveLength(tools)
    expect(out).toContain('2 of 2 tools need something.')
    expect(status).toBe(1)
  })

  it('says what else is missing when the workflow itself is denied', async () => {
    engine.faults.always('DescribeStateMachine', { kind: 'denied' })
    const { status, out } = await runbridge('check').ended
    expect(out).toContain('MISSING  states:DescribeStateMachine on')
    expect(out).toContain('allowed  states:StopExecution')
    expect(status).toBe(1)
  })

  it('ends with status 2 for what the engine can not do', async () => {
    await writeFile(
      config,
      yaml('    taskSupport: forbidden\n')
        .replace('humanInput: elicitation', '')
        .replace(/\n.*gates.*/, ''),
    )
    const { status, out } = await runbridge('check').ended
    expect(out).toContain('problem  `taskSupport: forbidden` is only for workflows')
    expect(out).toContain('1 of 2 tools need something.')
    expect(status).toBe(2)
  })

  it('ends with status 2 when there is no file', async () => {
    const { status, err } = await runbridge('check', '--config', 'none.yaml').ended
    expect({ status, err }).toEqual({
      status: 2,
      err: 'runbridge: none.yaml: there is no such file; name one with --config\n',
    })
  })
})

describe('runbridge call and tasks', () => {
  it('call, look, answer and cancel from a terminal', async () => {
    const server = runbridge('serve')
    const url = await server.said(URL_PATTERN)
    const at = ['--url', url]
    try {
      const called = await runbridge('call', 'echo', '--args', '{"word":"hello"}', ...at).ended
      expect(called.status).toBe(0)
      expect(called.out).toMatch(/^\{"word":"hello"\}\n/)
      expect(called.err).toMatch(/^task tsk_/)

      const connection = await connect(url, { onQuestion: async () => ({ action: 'cancel' }) })
      const execution = await connection.session.callTool('approve', {})
      const id = execution.handle?.taskId ?? ''
      await execution.detach()
      const asked = async () => (await runbridge('tasks', 'get', id, ...at).ended).out
      await expect.poll(asked, { timeout: 15_000 }).toContain('May it?')
      const answered = await runbridge('tasks', 'answer', id, '--accept', '{}', ...at).ended
      expect(answered.status).toBe(0)
      await expect.poll(asked, { timeout: 15_000 }).toMatch(/^completed/)

      const second = await connection.session.callTool('approve', {})
      const other = second.handle?.taskId ?? ''
      await second.detach()
      expect((await runbridge('tasks', 'cancel', other, ...at).ended).status).toBe(0)
      const seen = async () => await runbridge('tasks', 'get', other, ...at).ended
      await expect.poll(async () => (await seen()).out, { timeout: 15_000 }).toMatch(/^cancelled/)
      expect((await seen()).status).toBe(1)
      await connection.close()

      const unknown = await runbridge('tasks', 'get', 'tsk_nobody', ...at).ended
      expect(unknown).toMatchObject({ status: 1, err: 'runbridge: Task not found\n' })
      const nothing = await runbridge('call', 'nothing', ...at).ended
      expect(nothing).toMatchObject({ status: 1, err: 'runbridge: Unknown tool: nothing\n' })
    } finally {
      server.kill('SIGTERM')
    }
    expect((await server.ended).status).toBe(0)
  }, 60_000)
})

describe('examples/library.mjs', () => {
  it('serves a state machine from a process of its own', async () => {
    const server = startNode([libraryExample], {
      cwd: folder,
      env: {
        STATE_MACHINE_ARN: engine.stateMachineArn('Echo'),
        AWS_ENDPOINT_URL_SFN: engine.url,
        TASKS_FILE: join(folder, 'tasks.sqlite'),
        PORT: '0',
      },
    })
    const url = await server.said(URL_PATTERN)
    const connection = await connect(url)
    const end = await runTool(connection.session, 'place_order', { orderId: '1001' })
    await connection.close()
    expect(end).toMatchObject({ isError: false, structured: { orderId: '1001' } })
    server.kill('SIGTERM')
    expect((await server.ended).status).toBe(0)
  })
})
