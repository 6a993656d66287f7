import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import { node22 } from '../../bin/node22.mjs'

/**
 * @typedef {object} Streamed what a function answers piece by piece
 * @property {number} statusCode
 * @property {Record<string, string>} headers
 * @property {PassThrough} body
 * @property {Promise<void>} ended rejects with what the function throws
 */
/**
 * @typedef {object} Sandbox one sandbox of a function, which stands still between its invocations
 * @property {(event: object) => Promise<any>} invoke one at a time; rejects with what the function throws
 * @property {(event: object) => Promise<Streamed>} stream the same of a function that streams; resolves with the head
 * @property {() => number} invocations how many there were
 * @property {() => boolean} frozen or ended: it does nothing more by itself
 * @property {() => number | undefined} initMs from the start of its process to the first time it asked for an event
 * @property {() => number} ageMs since the start of its process
 * @property {() => number | undefined} rssBytes of its memory now, where the system says so
 * @property {() => string} log what the function wrote to standard error
 * @property {() => Promise<void>} close
 */

const PREFIX = '/2018-06-01/runtime'
const DEADLINE_MS = 30_000
/** Stands between the head of a streamed answer, which is JSON, and its body. */
const DELIMITER = Buffer.alloc(8)
const WITH_HEAD = 'application/vnd.awslambda.http-integration-response'

/**
 * The Runtime API (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html) in front of AWS's own runtime client
 * with the bundled function. As on AWS the process is stopped as soon as it asks for an event that is not there, and
 * goes on with the next one. A streamed answer is read as it comes, whether or not its client still is there.
 * @param {{ program: string, folder: string, env: NodeJS.ProcessEnv, deadlineMs?: number }} options
 * @returns {Promise<Sandbox>}
 */
export async function startSandbox({ program, folder, env, deadlineMs = DEADLINE_MS }) {
  const node = await node22()
  /** @typedef {{ id: string, event: object, resolve: (answer: any) => void, reject: (error: Error) => void, streams?: boolean }} Invocation */
  /** @type {Invocation[]} */
  const queue = []
  /** @type {Map<string, Invocation>} */
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
    const [, id = '', kind] = /^\/invocation\/([^/]+)\/(response|error)$/.exec(path) ?? []
    const invocation = underWay.get(id)
    const stream = invocation?.streams ? receive(request, invocation) : undefined
    /** @type {Buffer[]} */
    const pieces = []
    try {
      for await (const piece of request) {
        pieces.push(piece)
        stream?.take(piece)
      }
    } catch {
      return stream?.reject(new Error('the function ended in the middle of its answer'))
    }
    const body = Buffer.concat(pieces).toString()
    const trailer = request.trailers['lambda-runtime-function-error-body']
    const failure = trailer === undefined ? body : Buffer.from(trailer, 'base64').toString()
    underWay.delete(id)
    if (kind === undefined) giveUp(`The function could not start: ${body}`)
    else if (kind === 'error' || trailer !== undefined) (stream ?? invocation)?.reject(new Error(failure))
    else if (stream) stream.end()
    else invocation?.resolve(body === '' ? undefined : JSON.parse(body))
    response.writeHead(202, { 'content-type': 'application/json' }).end('{}')
  })
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (api.address())

  const began = performance.now()
  const child = spawn(node, [program, 'index.handler'], {
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
      'lambda-runtime-deadline-ms': String(Date.now() + deadlineMs),
      'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:000000000000:function:runbridge',
    })
    waiting.end(JSON.stringify(invocation.event))
    waiting = undefined
  }

  /** @param {object} event @param {boolean} streams @returns {Promise<any>} */
  function put(event, streams) {
    count += 1
    return new Promise((resolve, reject) => {
      queue.push({ id: randomUUID(), event, resolve, reject, streams })
      if (stopped) {
        child.kill('SIGCONT')
        stopped = false
      }
      if (ended !== undefined) giveUp(ended)
      else if (underWay.size === 0) hand()
    })
  }

  return {
    invoke: (event) => put(event, false),
    stream: (event) => put(event, true),
    invocations: () => count,
    frozen: () => stopped || ended !== undefined,
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

/**
 * A streamed answer: https://docs.aws.amazon.com/lambda/latest/dg/runtimes-custom.html#runtimes-custom-response-streaming
 * @param {import('node:http').IncomingMessage} request
 * @param {{ resolve: (answer: Streamed) => void, reject: (error: Error) => void }} invocation
 */
function receive(request, { resolve, reject }) {
  const { 'lambda-runtime-function-response-mode': mode, 'content-type': type } = request.headers
  const body = new PassThrough()
  const over = finished(body, { readable: false })
  over.catch(() => undefined)
  let start = Buffer.alloc(0)
  let begun = false
  return {
    /** @param {Buffer} piece */
    take(piece) {
      if (begun) return void body.write(piece)
      start = Buffer.concat([start, piece])
      const at = start.indexOf(DELIMITER)
      if (at < 0) return
      begun = true
      if (mode !== 'streaming' || type !== WITH_HEAD)
        reject(new Error(`no streamed answer: ${mode}, ${type}`))
      resolve({ ...JSON.parse(start.subarray(0, at).toString()), body, ended: over })
      if (start.length > at + DELIMITER.length) body.write(start.subarray(at + DELIMITER.length))
    },
    /** @param {Error} error */
    reject(error) {
      reject(error)
      body.destroy(error)
    },
    end() {
      if (!begun) reject(new Error('the answer has no head'))
      body.end()
    },
  }
}
