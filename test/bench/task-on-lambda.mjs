// What one task costs on Lambda with DynamoDB, in what AWS bills: a run of a minute that enters three states, and a client
// of the extension that polls at exactly the interval it is told, on a clock that jumps from poll to poll; then the status
// change, the sweep after its retention, and sweeps that find nothing.
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fakeBackend, manualClock } from '@runbridge/core/testing'
import { bearerAuth, createServer, createToken, resolveTool } from '@runbridge/server'
import { lambdaHandler } from '@runbridge/server/lambda'
import { dynamodb } from '@runbridge/stores/dynamodb'
import { root } from '../bin/command.mjs'
import { mcpRequest, mcpResult, WITH_TASKS } from '../bin/mcp-request.mjs'
import { startTable } from '../interop/lambda/table.mjs'
import { countedTable } from './counted-table.mjs'
import { figure } from './measure.mjs'

const requireOfStores = createRequire(join(root, 'packages/stores/package.json'))
const TABLE = 'tasks'
const REGION = 'us-east-1'
const HOST = 'abc.lambda-url.us-east-1.on.aws'
const RUN_MS = 60_000
const DAY_MS = 86_400_000
// As long as those of Step Functions are: what is kept of a task is mostly names.
const STATES = 'arn:aws:states:us-east-1:123456789012'
const WORKFLOW = `${STATES}:stateMachine:order-fulfilment`
const EXECUTION = `${STATES}:execution:order-fulfilment:`
const CONSOLE =
  'https://us-east-1.console.aws.amazon.com/states/home?region=us-east-1#/v2/executions/details/'
const LINES = Array.from({ length: 19 }, (_, n) => createHash('sha256').update(String(n)).digest('base64'))
const OUTPUT = { orderId: 'o-1', total: 7, lines: LINES }

/** @returns {Promise<import('./measure.mjs').Figure[]>} */
export async function taskOnLambda() {
  const table = await startTable({ name: TABLE, region: REGION })
  const { DynamoDB } = requireOfStores('@aws-sdk/client-dynamodb')
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new DynamoDB({ region: REGION, endpoint: table.endpoint, credentials })
  try {
    return await measured(client)
  } finally {
    client.destroy()
    await table.close()
  }
}

/** @param {any} client */
async function measured(client) {
  const clock = manualClock()
  const began = clock.now()
  const backend = fakeBackend({ clock })
  const start = backend.start
  backend.start = async (workflow, runKey, ...rest) => {
    const result = await start(workflow, runKey, ...rest)
    if (result.kind === 'started') Object.assign(result.run, { id: `${EXECUTION}${runKey}` })
    return result
  }
  const counted = countedTable(client)
  const store = await dynamodb({ table: TABLE, client: /** @type {any} */ (counted.client) })
  const definition = { name: 'order', description: 'Takes an order.', workflow: { id: WORKFLOW }, backend }
  const tool = await resolveTool(definition, { signal: new AbortController().signal })
  const { token, sha256 } = createToken()
  let logBytes = 0
  const line = (/** @type {unknown} */ fields, /** @type {string} */ msg = '') => {
    const entry = { level: 30, time: new Date(0).toISOString(), .../** @type {object} */ (fields), msg }
    logBytes += Buffer.byteLength(JSON.stringify(entry)) + 1
  }
  const log = { info: line, warn: line, error: line }
  const requestStateKey = await store.secret('request-state')
  const server = createServer({
    tools: [tool],
    store,
    clock,
    requestStateKey,
    freezes: true,
    log,
    audit: log,
  })
  const handler = lambdaHandler({
    server,
    tools: [tool],
    auth: () => bearerAuth({ tokens: [{ name: 'ci', sha256 }] }),
    events: [async (event) => server.service.hint(/** @type {any} */ (event)).then(() => true)],
    log,
  })

  let invocations = 0
  /** @param {object} event */
  const invoke = (event) => {
    invocations += 1
    return handler(event)
  }
  const call = async (/** @type {string} */ method, /** @type {any} */ params) =>
    mcpResult((await invoke(request(token, method, params)))?.body ?? '')
  const reset = () => {
    Object.assign(counted.units, { read: 0, write: 0 })
    invocations = 0
    logBytes = 0
  }

  await handler({ runbridge: 'sweep' })
  reset()
  await handler({ runbridge: 'sweep' })
  const idle = { ...counted.units }
  reset()

  const { taskId } = await call('tools/call', { name: 'order', arguments: { orderId: 'o-1' } })
  const runKey = backend.executions[0]?.runKey ?? ''
  const links = [{ title: 'Execution in the console', url: `${CONSOLE}${EXECUTION}${runKey}` }]
  const states = ['Check stock', 'Charge', 'Send']
  let status = 'working'
  let pollIntervalMs = 1_000
  while (status === 'working') {
    const endsIn = began + RUN_MS - clock.now()
    if (endsIn > 0 && endsIn <= pollIntervalMs) {
      clock.jump(endsIn)
      backend.set(runKey, { state: 'succeeded', output: OUTPUT })
      await invoke({ runKey })
      clock.jump(pollIntervalMs - endsIn)
    } else {
      clock.jump(pollIntervalMs)
      const state = states[Math.floor(((clock.now() - began) / RUN_MS) * states.length)]
      if (state) backend.set(runKey, { state: 'running', progress: { message: state }, links })
    }
    const task = await call('tasks/get', { taskId })
    status = task.status
    pollIntervalMs = task.pollIntervalMs ?? pollIntervalMs
  }
  if (status !== 'completed') throw new Error(`The task ended as ${status}.`)
  const bytes = counted.largest()
  const billed = invocations
  const logged = logBytes
  clock.jump(2 * DAY_MS)
  const before = counted.units.write
  await handler({ runbridge: 'sweep' })
  if (counted.units.write === before) throw new Error('The sweep removed nothing.')

  const name = (/** @type {string} */ what) => `a run of a minute, polled as told: ${what}`
  return [
    figure(name('invocations'), billed, 'times'),
    figure(name('DynamoDB writes, its removal included'), counted.units.write, 'units'),
    figure(name('DynamoDB reads, its removal included'), counted.units.read, 'units'),
    figure(name('its largest item, with an output of 0.9 kB'), bytes, 'bytes'),
    figure(name('log of the handler, the audit included'), logged, 'bytes'),
    figure('a sweep that finds nothing: DynamoDB reads', idle.read, 'units'),
  ]
}

/** @param {string} token @param {string} method @param {any} params */
function request(token, method, params) {
  const { headers, body } = mcpRequest(method, params, WITH_TASKS)
  return {
    version: '2.0',
    rawPath: '/mcp',
    headers: { host: HOST, authorization: `Bearer ${token}`, ...headers },
    body,
    requestContext: { domainName: HOST, http: { method: 'POST' } },
  }
}
