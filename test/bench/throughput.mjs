// Requests a second of server processes over HTTP, by clients that keep their connections: Runbridge beside a bare JSON
// echo and the SDK's plain handler, in turns, so that what else the machine does meets all of them alike.
import { Agent, request } from 'node:http'
import { mcpRequest, WITH_TASKS } from '../bin/mcp-request.mjs'
import { child, figure, median } from './measure.mjs'

const AT_ONCE = 8
const ROUNDS = 4
/** Each turn ends after so long or so many requests, whichever comes first. */
const TURN_MS = 600
const WARM_UP_MS = 700
/** Every start leaves an open task, and a caller may have 1000. */
const STARTS_A_TURN = 100

/**
 * @typedef {object} Target
 * @property {string} name
 * @property {string} url
 * @property {Message} message
 * @property {number} [atMost] requests a turn
 * @property {string} [plain] the target of the SDK's plain handler that does the same
 */

/**
 * @param {string} folder for files
 * @returns {Promise<import('./measure.mjs').Figure[]>}
 */
export async function throughput(folder) {
  const servers = await Promise.all(
    ['echo', 'sdk', 'memory', 'sqlite'].map((kind) =>
      child(['test/bench/servers.mjs', kind, `${folder}/bench.sqlite`]),
    ),
  )
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  try {
    return await compared(
      agent,
      await targets(
        agent,
        servers.map(({ line }) => line),
      ),
    )
  } finally {
    agent.destroy()
    await Promise.all(servers.map((server) => server.end()))
  }
}

/**
 * @param {Agent} agent
 * @param {string[]} urls
 * @returns {Promise<Target[]>}
 */
async function targets(agent, urls) {
  const [echo = '', sdk = '', memory = '', sqlite = ''] = urls
  const get = (/** @type {string} */ taskId) => message('tasks/get', { taskId })
  const call = (/** @type {string} */ name) => message('tools/call', { name, arguments: { order: 7 } })
  const taskOf = async (/** @type {string} */ url) => {
    const answer = JSON.parse(/\{.*\}/s.exec(await post(agent, url, call('order')))?.[0] ?? '{}')
    return String(answer.result.taskId)
  }
  const [plainGet, plainCall] = ["the SDK's plain handler, tasks/get", "the SDK's plain handler, tools/call"]
  const starts = { message: call('order'), atMost: STARTS_A_TURN, plain: plainCall }
  return [
    { name: 'bare node:http JSON echo', url: echo, message: get('any') },
    { name: plainGet, url: sdk, message: get('any') },
    { name: plainCall, url: sdk, message: call('echo') },
    { name: 'tasks/get, store in memory', url: memory, message: get(await taskOf(memory)), plain: plainGet },
    { name: 'tasks/get, SQLite', url: sqlite, message: get(await taskOf(sqlite)), plain: plainGet },
    { name: 'tools/call, synchronous', url: memory, message: call('echo'), plain: plainCall },
    { name: 'tools/call that starts a task, store in memory', url: memory, ...starts },
    { name: 'tools/call that starts a task, SQLite', url: sqlite, ...starts },
  ]
}

/**
 * @param {Agent} agent
 * @param {Target[]} all
 */
async function compared(agent, all) {
  for (const target of all) await turn(agent, { ...target, ...(target.atMost && { atMost: 50 }) }, WARM_UP_MS)
  /** @type {Map<string, number>[]} */
  const rounds = []
  for (let round = 0; round < ROUNDS; round += 1) {
    /** @type {Map<string, number>} */
    const rates = new Map()
    for (const target of all) rates.set(target.name, await turn(agent, target, TURN_MS))
    rounds.push(rates)
  }
  const rateOf = (/** @type {Map<string, number>} */ rates, /** @type {string} */ name) =>
    rates.get(name) ?? Number.NaN
  const ratio = (/** @type {string} */ of, /** @type {string} */ to) =>
    median(rounds.map((rates) => rateOf(rates, of) / rateOf(rates, to)))
  return all.flatMap(({ name, plain }) => [
    figure(name, median(rounds.map((rates) => rateOf(rates, name))), 'requests/s'),
    ...(plain === undefined
      ? []
      : [
          figure(`${name}: of the bare echo`, ratio(name, 'bare node:http JSON echo'), 'times its rate'),
          figure(`${name}: of the SDK's plain handler`, ratio(name, plain), 'times its rate'),
        ]),
  ])
}

/**
 * @param {Agent} agent
 * @param {Target} target
 * @param {number} ms
 * @returns {Promise<number>} requests a second
 */
async function turn(agent, { url, message, atMost = Number.POSITIVE_INFINITY }, ms) {
  const began = performance.now()
  let sent = 0
  const worker = async () => {
    while (sent < atMost && performance.now() - began < ms) {
      sent += 1
      await post(agent, url, message)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return (1000 * sent) / (performance.now() - began)
}

/**
 * @typedef {{ body: string, headers: Record<string, string> }} Message
 * @param {string} method
 * @param {Record<string, unknown>} params
 * @returns {Message}
 */
function message(method, params) {
  const { headers, body } = mcpRequest(method, params, WITH_TASKS)
  return { body, headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) } }
}

/**
 * @param {Agent} agent
 * @param {string} url
 * @param {Message} message
 * @returns {Promise<string>}
 */
function post(agent, url, { body, headers }) {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece
      })
      response.on('error', reject).on('end', () => {
        if (response.statusCode === 200 && !text.includes('"error"')) resolve(text)
        else reject(new Error(`${url} answered ${response.statusCode}: ${text.slice(0, 300)}`))
      })
    })
    sending.on('error', reject)
    sending.end(body)
  })
}
