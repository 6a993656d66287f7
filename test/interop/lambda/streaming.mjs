import { deepStrictEqual, match, ok, strictEqual } from 'node:assert'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { EXTENSION_ID } from '@runbridge/core/wire/ext-tasks'
import { createToken } from '@runbridge/server'
import { mcpRequest, mcpResult, WITH_TASKS } from '../../bin/mcp-request.mjs'
import { connect } from '../client.mjs'
import { startFleet } from './fleet.mjs'
import { startFunctionUrl } from './function-url.mjs'

const NAME = 'the handler that streams'
const LISTEN_MS = 4_000
/** By it, streams end 5 s before. */
const DEADLINE_MS = 8_000

/** @typedef {{ taskId: string, status: string, result?: { structuredContent?: unknown } }} Told */

/**
 * `subscriptions/listen` through AWS's own runtime client: streamed, bounded, and taken up again by another sandbox.
 * @param {import('../checks.mjs').Checks} checks
 * @param {{ program: string, folder: string, env: NodeJS.ProcessEnv }} options
 * @param {Awaited<ReturnType<typeof import('@runbridge/emulators/step-functions').startStepFunctionsEmulator>>} engine
 */
export async function streaming({ check }, { program, folder, env }, engine) {
  const { token, sha256 } = createToken()
  const headers = { authorization: `Bearer ${token}` }
  const name = (/** @type {string} */ what) => `${NAME}: ${what}`
  /** @param {number} listenMs @param {number} [deadlineMs] */
  async function open(listenMs, deadlineMs) {
    const own = { ...env, TOKEN_SHA256: sha256, RUNBRIDGE_LISTEN_MS: String(listenMs) }
    const fleet = startFleet({ program, folder, env: own, ...(deadlineMs && { deadlineMs }) })
    const front = await startFunctionUrl(fleet.stream)
    const close = async () => {
      await front.close()
      await fleet.close()
    }
    return { fleet, url: front.url, close }
  }
  const frozen = async (/** @type {ReturnType<typeof startFleet>} */ fleet) => {
    while (fleet.busy() > 0) await pause(5)
  }

  const { fleet, url, close } = await open(LISTEN_MS)
  try {
    const client = await connect(url, () => ({ action: 'accept', content: {} }), headers)
    const listener = await listens(url, headers)
    await check(
      name('answers that are no streams arrive as they are, frozen between the requests'),
      async () => {
        const before = fleet.size()
        strictEqual((await (await client.call('nap', { name: 'Ada' })).end).status, 'completed')
        strictEqual(fleet.size(), before)
        const denied = await fetch(url, { method: 'POST', body: '{}' })
        strictEqual(denied.status, 401)
        match(denied.headers.get('www-authenticate') ?? '', /^Bearer/)
      },
    )
    await check(name('an answer without a body has a head'), async () => {
      const { headers: own } = mcpRequest('notifications/cancelled')
      const body = JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: 1 },
      })
      const response = await fetch(url, { method: 'POST', headers: { ...own, ...headers }, body })
      deepStrictEqual([response.status, await response.text()], [202, '\n'])
    })
    await check(
      name('the official client listens, and is told of the end of a run by notification alone'),
      async () => {
        const taskId = await started(url, headers, 'nap', { name: 'Eve' })
        const runs = engine.executions().length
        const { told, closed } = await listener.listen([taskId])
        strictEqual(await closed, 'graceful')
        strictEqual(engine.executions().length, runs)
        deepStrictEqual([told[0]?.status, told.at(-1)?.status], ['working', 'completed'])
        deepStrictEqual(told.at(-1)?.result?.structuredContent, { name: 'Eve' })
        await frozen(fleet)
      },
    )
    await check(
      name('what happens through another sandbox is told, while the stream holds its own'),
      async () => {
        const taskId = await started(url, headers, 'deploy')
        const { told, closed } = await listener.listen([taskId])
        strictEqual(fleet.busy(), 1)
        await until(() => told.at(-1)?.status === 'input_required')
        const resumed = await client.resume(taskId)
        strictEqual((await resumed.end).status, 'completed')
        ok(fleet.size() >= 2)
        strictEqual(await closed, 'graceful')
        strictEqual(told.at(-1)?.status, 'completed')
        await frozen(fleet)
      },
    )
    await check(
      name(
        'a stream ends gracefully at its longest, the sandbox freezes, and the next one says what came meanwhile',
      ),
      async () => {
        const taskId = await started(url, headers, 'deploy')
        const began = performance.now()
        const first = await listener.listen([taskId])
        strictEqual(await first.closed, 'graceful')
        const lasted = performance.now() - began
        ok(lasted > LISTEN_MS - 500 && lasted < LISTEN_MS + 3_000, `it lasted ${lasted} ms`)
        await frozen(fleet)
        await request(url, headers, 'tasks/cancel', { taskId })
        const arn = /** @type {string} */ (engine.executions().at(-1)?.executionArn)
        await engine.ended(arn)
        const second = await listener.listen([taskId])
        strictEqual(await second.closed, 'graceful')
        strictEqual(second.told.at(-1)?.status, 'cancelled')
      },
    )
    await check(
      name('a client that leaves is not told of: its sandbox is free when the longest is over'),
      async () => {
        const taskId = await started(url, headers, 'deploy')
        await frozen(fleet)
        const leaving = await listener.listen([taskId])
        const began = performance.now()
        await leaving.close()
        await frozen(fleet)
        const held = performance.now() - began
        ok(held < LISTEN_MS + 3_000, `it was held for ${held} ms`)
      },
    )
    await check(name('the schedule sweeps, and a failure reaches Lambda in the trailers'), async () => {
      strictEqual(await fleet.invoke({ runbridge: 'sweep' }), null)
      const thrown = await fleet.invoke({ hello: 1 }).catch((/** @type {Error} */ error) => error)
      match(String(thrown), /This event is no HTTP request/)
    })
    await check(name('no token is in its log'), async () => {
      ok(!(await fleet.log()).includes(token))
    })
    await listener.client.close()
    await client.close()
  } catch (thrown) {
    throw new Error(`${thrown instanceof Error ? thrown.stack : thrown}\n${(await fleet.log()).slice(-2000)}`)
  } finally {
    await close()
  }

  const near = await open(600_000, DEADLINE_MS)
  try {
    await check(
      name('a stream ends before the deadline of its invocation, whatever its longest is'),
      async () => {
        const taskId = await started(near.url, headers, 'deploy')
        const listener = await listens(near.url, headers)
        const began = performance.now()
        const { closed } = await listener.listen([taskId])
        strictEqual(await closed, 'graceful')
        await frozen(near.fleet)
        ok(performance.now() - began < DEADLINE_MS)
        await listener.client.close()
      },
    )
  } finally {
    await near.close()
  }
}

/**
 * The official client, as a host that listens.
 * @param {string} url @param {Record<string, string>} headers
 */
async function listens(url, headers) {
  const clientInfo = { name: 'runbridge-interop', version: '0.0.0' }
  const capabilities = { elicitation: { form: {} }, extensions: { [EXTENSION_ID]: {} } }
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: 'auto' } })
  /** @type {Map<string, Told[]>} */
  const told = new Map()
  client.fallbackNotificationHandler = async ({ method, params }) => {
    const task = /** @type {Told} */ (/** @type {unknown} */ (params))
    if (method === 'notifications/tasks') told.get(task.taskId)?.push(task)
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return {
    client,
    /** @param {string[]} taskIds the first is watched */
    async listen(taskIds) {
      /** @type {Told[]} */
      const heard = []
      told.set(taskIds[0] ?? '', heard)
      const { closed, close } = await client.listen(/** @type {never} */ ({ taskIds }))
      return { told: heard, closed, close }
    },
  }
}

/**
 * Starts a task and leaves it alone. @returns {Promise<string>} its id
 * @param {string} url @param {Record<string, string>} headers @param {string} name @param {object} [args]
 */
async function started(url, headers, name, args = {}) {
  return (await request(url, headers, 'tools/call', { name, arguments: args })).taskId
}

/**
 * One request of a client with tasks, and its result.
 * @param {string} url @param {Record<string, string>} headers @param {string} method
 * @param {{ name?: string, taskId?: string, arguments?: object }} params
 */
async function request(url, headers, method, params) {
  const { headers: own, body } = mcpRequest(method, params, WITH_TASKS)
  const response = await fetch(url, { method: 'POST', headers: { ...own, ...headers }, body })
  return mcpResult(await response.text())
}

/** @param {() => boolean} holds */
async function until(holds) {
  while (!holds()) await pause(10)
}
