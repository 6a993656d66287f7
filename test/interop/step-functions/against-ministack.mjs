import { deepStrictEqual, match, ok, strictEqual } from 'node:assert'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createStepFunctionsClients, stepFunctions } from '@runbridge/step-functions'
import { root, run } from '../../bin/command.mjs'
import { serve } from '../../bin/serve.mjs'
import { call } from '../../faults/call.mjs'
import { startMinistack, VERSION } from '../ministack.mjs'
import { machinesFor } from './machines.mjs'
import { rolesAgainstMinistack } from './roles.mjs'

/** @typedef {import('../ministack.mjs').Ministack} Ministack */
/** @typedef {import('../checks.mjs').Checks} Checks */

const REGION = 'us-east-1'
const MACHINES = `arn:aws:states:${REGION}:000000000000:stateMachine`
const PATIENCE_MS = 30_000

/**
 * The server as `runbridge serve` runs it, and the adapter, against ministack.
 * @param {Checks} checks @param {(line: string) => void} print
 */
export async function againstMinistack(checks, print) {
  if ((await run('python3', ['--version']).catch(() => ({ code: 1 }))).code !== 0) {
    checks.skip('ministack', 'python3 is not installed')
    return
  }
  print(`        ministack ${VERSION}; the first time it is installed`)
  const ministack = await startMinistack()
  const folder = mkdtempSync(join(tmpdir(), 'runbridge-interop-'))
  try {
    const queue = await furnish(ministack)
    await throughTheServer(checks, ministack, queue, join(folder, 'tasks.sqlite'))
    await throughTheAdapter(checks, ministack)
  } finally {
    await ministack.close()
    rmSync(folder, { recursive: true, force: true })
  }
  await rolesAgainstMinistack(checks)
}

/** Makes the queue and the state machines. @param {Ministack} ministack */
async function furnish({ call: aws }) {
  const { QueueUrl: queue } = await aws('sqs', 'CreateQueue', { QueueName: 'approvals' })
  for (const [name, { type = 'STANDARD', definition }] of Object.entries(
    machinesFor({ machines: MACHINES, queue }),
  )) {
    await aws('states', 'CreateStateMachine', {
      name,
      type,
      definition: JSON.stringify(definition),
      roleArn: 'arn:aws:iam::000000000000:role/interop',
    })
  }
  await aws('states', 'PublishStateMachineVersion', { stateMachineArn: `${MACHINES}:price` })
  return queue
}

/** @param {Ministack} ministack @param {string} database */
function served({ url }, database) {
  return serve({
    config: join(root, 'test/fixtures/interop-step-functions.yaml'),
    env: { RUNBRIDGE_STORE: database, RUNBRIDGE_ENDPOINT: url, RUNBRIDGE_MACHINES: MACHINES },
  })
}

/** @param {Checks} checks @param {Ministack} ministack @param {string} queue @param {string} database */
async function throughTheServer({ check, known }, ministack, queue, database) {
  let server = await served(ministack, database)
  const { call: aws } = ministack
  const mcp = (/** @type {string} */ method, /** @type {object} */ params) => call(server.url, method, params)
  const start = async (/** @type {string} */ name, args = {}) => {
    const { result, error } = await mcp('tools/call', { name, arguments: args })
    if (!result?.taskId) throw new Error(`no task: ${JSON.stringify(error ?? result)}`)
    return /** @type {string} */ (result.taskId)
  }
  /** Looks at a task until this holds. @param {string} taskId @param {(task: any) => boolean} holds */
  const until = async (taskId, holds) => {
    const patience = Date.now() + PATIENCE_MS
    for (let last; ; await pause(200)) {
      last = await mcp('tasks/get', { taskId })
      if (last?.result && holds(last.result)) return last.result
      if (Date.now() > patience) throw new Error(`never came to it: ${JSON.stringify(last)}`)
    }
  }
  const ended = (/** @type {any} */ task) => !['working', 'input_required'].includes(task.status)
  const finished = (/** @type {string} */ taskId) => until(taskId, ended)
  const text = (/** @type {any} */ task) => task.result.content[0].text
  try {
    await check('Express with JSONata answers in the call', async () => {
      const { result } = await mcp('tools/call', { name: 'greet', arguments: { name: 'Ada' } })
      strictEqual(result.resultType, 'complete')
      deepStrictEqual(result.structuredContent, { text: 'Hello Ada' })
    })
    await check('Express that fails is an error of the tool', async () => {
      const { result } = await mcp('tools/call', { name: 'refuse', arguments: {} })
      strictEqual(result.isError, true)
      match(result.content[0].text, /"Refused".*"Not today\."/)
    })
    await check('a start becomes a task, shows its states, and ends with the output', async () => {
      const taskId = await start('steps')
      for (const step of ['Prepare', 'Pack']) {
        await until(taskId, ({ statusMessage }) => statusMessage.includes(`Now at: "${step} since `))
      }
      const task = await finished(taskId)
      strictEqual(task.status, 'completed')
      deepStrictEqual(task.result.structuredContent, { parcel: 17 })
    })
    await check('JSONata with variables', async () => {
      const task = await finished(await start('price', { items: [{ price: 2 }, { price: 40 }] }))
      deepStrictEqual(task.result.structuredContent, { total: 42 })
    })
    await check('a version is started by its number', async () => {
      const task = await finished(await start('version', { items: [{ price: 1 }] }))
      deepStrictEqual(task.result.structuredContent, { total: 1 })
    })
    await check('a gate opens, is answered by the token of its message, and closes', async () => {
      const taskId = await start('deploy', { version: '1.2.3' })
      const task = await until(taskId, ({ status }) => status === 'input_required')
      const [request] = Object.values(task.inputRequests)
      strictEqual(request.params.message, 'Roll out?')
      const { question, token } = await received(aws, queue)
      strictEqual(question, 'Roll out 1.2.3?')
      ok(!JSON.stringify(task).includes(token), 'the token was shown')
      await aws('states', 'SendTaskSuccess', { taskToken: token, output: '{"ok":true}' })
      deepStrictEqual((await finished(taskId)).result.structuredContent, { approved: true })
    })
    await known(
      'an answer through this server',
      'TaskScheduled has no parameters there, so the history does not hold the token',
      async () => {
        const taskId = await start('deploy', { version: '1.2.4' })
        const { inputRequests } = await until(taskId, ({ status }) => status === 'input_required')
        const [key] = Object.keys(inputRequests)
        const { token } = await received(aws, queue)
        try {
          const inputResponses = { [String(key)]: { action: 'accept', content: {} } }
          const { error } = await mcp('tasks/update', { taskId, inputResponses })
          ok(error === undefined, error?.message)
        } finally {
          await aws('states', 'SendTaskSuccess', { taskToken: token, output: '{"ok":true}' })
        }
      },
    )
    await check('a failure names its state, its error and its cause', async () => {
      const task = await finished(await start('broken'))
      strictEqual(task.status, 'completed')
      strictEqual(task.result.isError, true)
      match(text(task), /at step "Breaks" with "Boom".*"It broke\."/)
    })
    await check('a cancel stops the execution, and the task says so once the engine does', async () => {
      const taskId = await start('sleeper')
      await until(taskId, ({ statusMessage }) => statusMessage.includes('Now at: "Sleep'))
      await mcp('tasks/cancel', { taskId })
      strictEqual((await finished(taskId)).status, 'cancelled')
      const { executions } = await aws('states', 'ListExecutions', { stateMachineArn: `${MACHINES}:sleeper` })
      deepStrictEqual(
        executions.map((/** @type {any} */ execution) => execution.status),
        ['ABORTED'],
      )
    })
    await check('a stop by somebody else is a cancelled task', async () => {
      const taskId = await start('sleeper')
      const { executions } = await aws('states', 'ListExecutions', {
        stateMachineArn: `${MACHINES}:sleeper`,
        statusFilter: 'RUNNING',
      })
      await aws('states', 'StopExecution', { executionArn: executions[0].executionArn, cause: 'maintenance' })
      strictEqual((await finished(taskId)).status, 'cancelled')
    })
    await check('an execution that another one started is linked to', async () => {
      const task = await finished(await start('parent'))
      const links = task.result.content.filter((/** @type {any} */ part) => part.type === 'resource_link')
      match(links[1]?.name ?? '', /^Nested execution of nap/)
      match(links[1]?.uri ?? '', /:execution:nap:/)
    })
    for (const signal of /** @type {const} */ (['SIGTERM', 'SIGKILL'])) {
      await check(`a task goes on over a restart after ${signal}`, async () => {
        const taskId = await start('nap', { kept: signal })
        await server.end(signal)
        server = await served(ministack, database)
        deepStrictEqual((await finished(taskId)).result.structuredContent, { kept: signal })
      })
    }
  } finally {
    await server.end()
  }
}

/** The next message on the queue. @param {Ministack['call']} aws @param {string} queue */
async function received(aws, queue) {
  const { Messages: [message] = [] } = await aws('sqs', 'ReceiveMessage', {
    QueueUrl: queue,
    WaitTimeSeconds: 5,
  })
  if (!message) throw new Error('There is no message on the queue.')
  await aws('sqs', 'DeleteMessage', { QueueUrl: queue, ReceiptHandle: message.ReceiptHandle })
  return JSON.parse(message.Body)
}

/** @param {Checks} checks @param {Ministack} ministack */
async function throughTheAdapter({ check, known }, { url, call: aws }) {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const clients = createStepFunctionsClients({ region: REGION, endpoint: url, credentials })
  const backend = stepFunctions({ clients })
  const workflow = (/** @type {string} */ name) => ({ id: `${MACHINES}:${name}` })
  const context = () => ({ signal: AbortSignal.timeout(PATIENCE_MS), owner: 'local' })
  const started = async (/** @type {string} */ name, /** @type {string} */ key, input = {}) => {
    const result = await backend.start(workflow(name), key, input, context())
    if (result.kind !== 'started') throw result.error
    return result.run
  }
  /** Looks until this holds. @param {string} name @param {any} run @param {(snapshot: any) => boolean} holds */
  const until = async (name, run, holds, patienceMs = 8_000) => {
    const patience = Date.now() + patienceMs
    for (let marks; ; await pause(200)) {
      /** @type {any} */
      const result = await backend.get(workflow(name), run, {
        ...context(),
        ...{ gates: true, progress: true },
        ...(marks && { marks }),
      })
      if (result.kind === 'snapshot' && holds(result.snapshot)) return result.snapshot
      marks = result.marks ?? marks
      const over = result.kind === 'snapshot' && result.snapshot.endedAt !== undefined
      if (over || Date.now() > patience) throw new Error(`never came to it: ${JSON.stringify(result)}`)
    }
  }
  try {
    await check(
      'a start that is repeated is the same execution, and another input under its name is refused',
      async () => {
        const run = await started('nap', 'rb-again', { a: 1 })
        deepStrictEqual(await started('nap', 'rb-again', { a: 1 }), run)
        const other = await backend.start(workflow('nap'), 'rb-again', { a: 2 }, context())
        strictEqual(other.kind, 'refused')
        deepStrictEqual(await backend.find(workflow('nap'), 'rb-again', context()), { kind: 'found', run })
      },
    )
    await check('an execution that is not there is absent', async () => {
      deepStrictEqual(await backend.find(workflow('nap'), 'rb-none', context()), { kind: 'absent' })
    })
    await check('a state machine that is not there can not be described', async () => {
      const error = await backend.describe(workflow('nowhere'), context()).catch((thrown) => thrown)
      strictEqual(error.code, 'workflow_not_found')
    })
    await check('all state machines are listed', async () => {
      const names = []
      for await (const { title } of backend.discover?.({}, context()) ?? []) names.push(title)
      deepStrictEqual(names.toSorted(), Object.keys(machinesFor({ machines: '', queue: '' })).toSorted())
    })
    await known(
      'an equal start while the execution runs is answered with the same execution',
      'it answers ExecutionAlreadyExists at once; the adapter adopts its own run then, which is checked',
      async () => {
        const request = { stateMachineArn: `${MACHINES}:nap`, name: 'equal', input: '{}' }
        const { executionArn } = await aws('states', 'StartExecution', request)
        strictEqual((await aws('states', 'StartExecution', request)).executionArn, executionArn)
      },
    )
    await known(
      'an Express execution can not be described',
      'it describes them; AWS answers InvalidArn',
      async () => {
        const request = { stateMachineArn: `${MACHINES}:greet`, input: '{"name":"Ada"}' }
        const { executionArn } = await aws('states', 'StartSyncExecution', request)
        const error = await aws('states', 'DescribeExecution', { executionArn }).catch((thrown) => thrown)
        match(String(error), /InvalidArn/)
      },
    )
    await known(
      'events name the one before them',
      'previousEventId is missing; the adapter takes the events for one line',
      async () => {
        const { id } = await started('nap', 'rb-events')
        const { events } = await aws('states', 'GetExecutionHistory', { executionArn: id })
        strictEqual(events[0].previousEventId, 0)
      },
    )
    await known(
      'the states of parallel branches are told',
      'states inside a Parallel leave no events',
      async () => {
        const run = await started('both', 'rb-both')
        await until('both', run, ({ progress }) => /Right, Left|Left, Right/.test(progress?.message))
      },
    )
    await known(
      'the iterations of a Map are counted',
      'states and iterations inside a Map leave no events',
      async () => {
        const run = await started('each', 'rb-each', { items: [1, 2, 3] })
        await until('each', run, ({ progress }) => progress?.total === 3)
      },
    )
    await known(
      'a distributed Map is counted by its Map Run',
      'the history has no MapRunStarted that names it',
      async () => {
        const run = await started('files', 'rb-files', { items: [1, 2, 3] })
        await until('files', run, ({ progress }) => progress?.total === 3)
      },
    )
    await known(
      'an execution that a task waits for is linked to',
      'there is no TaskSubmitted, which names it',
      async () => {
        const run = await started('waiting_parent', 'rb-nested')
        await until('waiting_parent', run, ({ links }) => links.length > 1)
      },
    )
    await known(
      'an execution that takes longer than its state machine allows times out',
      'TimeoutSeconds of a state machine is not looked at',
      async () => {
        const run = await started('overdue', 'rb-overdue')
        await until('overdue', run, ({ state }) => state === 'timed_out')
      },
    )
  } finally {
    clients.close()
  }
}
