import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/**
 * @typedef {object} Sandbox one sandbox of a function, which stands still between its invocations
 * @property {(event: object) => Promise<any>} invoke one at a time; rejects with what the function throws
 * @property {() => number} invocations how many there were
 * @property {() => boolean} frozen
 * @property {() => number | undefined} initMs from the start of its process to the first time it asked for an event
 * @property {() => number} ageMs since the start of its process
 * @property {() => number | undefined} rssBytes of its memory now, where the system says so
 * @property {() => string} log what the function wrote to standard error
 * @property {() => Promise<void>} close
 */

const PREFIX = '/2018-06-01/runtime'
const DEADLINE_MS = 30_000

/**
 * The Runtime API (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html) in front of AWS's own runtime client
 * with the bundled function. As on AWS the process is stopped as soon as it asks for an event that is not there, and
 * goes on with the next one.
 * @param {{ program: string, folder: string, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<Sandbox>}
 */
export async function startSandbox({ program, folder, env }) {
  /** @type {{ id: string, event: object, resolve: (answer: any) => void, reject: (error: Error) => void }[]} */
  const queue = []
  /** @type {Map<string, (typeof queue)[number]>} */
  const underWay = new Map()
  /** @type {import('node:http').ServerResponse | undefined} */
  let waiting
  let stopped = false
  /** @type {number | undefined} */
  let initMs
  let count = 0
  let log = ''
  /** @type {string | undefined} */
  let ended

  const api = createServer(async (request, response) => {
    const path = (request.url ?? '').slice(PREFIX.length)
    if (path === '/invocation/next') {
      initMs ??= performance.now() - began
      waiting = response
      if (queue.length > 0) return hand()
      stopped = child.kill('SIGSTOP')
      return
    }
    const body = await text(request)
    const [, id = '', kind] = /^\/invocation\/([^/]+)\/(response|error)$/.exec(path) ?? []
    const invocation = underWay.get(id)
    underWay.delete(id)
    if (kind === 'response') invocation?.resolve(body === '' ? undefined : JSON.parse(body))
    else if (kind === 'error') invocation?.reject(new Error(body))
    else giveUp(`The function could not start: ${body}`)
    response.writeHead(202, { 'content-type': 'application/json' }).end('{}')
  })
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (api.address())

  const began = performance.now()
  const child = spawn(process.execPath, [program, 'index.handler'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
      AWS_LAMBDA_FUNCTION_NAME: 'runbridge',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
      LAMBDA_TASK_ROOT: folder,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      ...env,
    },
  })
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    log += piece
  })
  const exited = once(child, 'exit').then(() => {
    giveUp(`The function ended: ${log}`)
  })

  /** @param {string} reason */
  function giveUp(reason) {
    for (const { reject } of [...underWay.values(), ...queue.splice(0)]) reject(new Error(reason))
    underWay.clear()
    ended = reason
  }

  function hand() {
    const invocation = waiting && queue.shift()
    if (!invocation || !waiting) return
    underWay.set(invocation.id, invocation)
    waiting.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': invocation.id,
      'lambda-runtime-deadline-ms': String(Date.now() + DEADLINE_MS),
      'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:000000000000:function:runbridge',
    })
    waiting.end(JSON.stringify(invocation.event))
    waiting = undefined
  }

  return {
    invoke(event) {
      count += 1
      return new Promise((resolve, reject) => {
        queue.push({ id: randomUUID(), event, resolve, reject })
        if (stopped) {
          child.kill('SIGCONT')
          stopped = false
        }
        if (ended !== undefined) giveUp(ended)
        else if (underWay.size === 0) hand()
      })
    },
    invocations: () => count,
    frozen: () => stopped,
    initMs: () => initMs,
    ageMs: () => performance.now() - began,
    rssBytes: () => residentBytes(child.pid),
    log: () => log,
    async close() {
      child.kill('SIGKILL')
      await exited
      api.closeAllConnections()
      await new Promise((resolve) => api.close(resolve))
    },
  }
}

/** https://docs.kernel.org/filesystems/proc.html, `VmRSS`. @param {number | undefined} pid */
function residentBytes(pid) {
  const file = `/proc/${pid}/status`
  const [, kilobytes] = /^VmRSS:\s*(\d+) kB$/m.exec(existsSync(file) ? readFileSync(file, 'utf8') : '') ?? []
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}
