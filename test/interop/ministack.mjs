import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { root, run } from '../bin/command.mjs'

/** PyPI `ministack` (MIT): a local AWS by others. The version that the list of what it does wrong is about. */
export const VERSION = '1.5.33'
const START_MS = 60_000

/**
 * The interpreter of a virtual environment that has ministack, outside of the tracked tree; made at the first use.
 * @returns {Promise<string>}
 */
async function interpreter() {
  const folder = join(root, 'node_modules/.cache/interop', `ministack-${VERSION}`)
  const python = join(folder, 'bin/python')
  const ready = join(folder, 'ready')
  if (existsSync(ready)) return python
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(root, 'node_modules/.cache/interop'), { recursive: true })
  await succeed('python3', ['-m', 'venv', folder])
  await succeed(python, ['-m', 'pip', 'install', '--quiet', `ministack==${VERSION}`])
  mkdirSync(ready)
  return python
}

/** @param {string} command @param {readonly string[]} args */
async function succeed(command, args) {
  const { code, output } = await run(command, args)
  if (code !== 0) throw new Error(`\`${command} ${args.join(' ')}\` failed: ${output.trim().slice(-500)}`)
}

/** A port that is free now. ministack has to be told one. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {http.IncomingHttpHeaders} headers
 * @property {string} text
 */
/**
 * @typedef {object} Ministack
 * @property {string} url
 * @property {string} folder what it writes is in here, the code of its functions too
 * @property {string | undefined} ca the file of the certificate that it serves with
 * @property {(options: http.RequestOptions, body?: string) => Promise<Answer>} request
 * @property {(service: string, action: string, request: object) => Promise<any>} call throws what AWS calls an error
 * @property {() => Promise<void>} close
 */

/**
 * Starts ministack on loopback, with everything it writes in a folder of its own; `close` ends that process.
 * @param {{ strict?: boolean, path?: string, env?: NodeJS.ProcessEnv }} [options] `strict`: over TLS alone, and it
 *   evaluates IAM's policies. It takes port 443 of loopback too then, where it may. `path`: where it finds the
 *   interpreters of functions
 * @returns {Promise<Ministack>}
 */
export async function startMinistack({ strict = false, path = process.env.PATH ?? '', env = {} } = {}) {
  const python = await interpreter()
  const folder = mkdtempSync(join(tmpdir(), 'runbridge-ministack-'))
  const port = await freePort()
  const child = spawn(python, ['-m', 'ministack.app'], {
    cwd: folder,
    env: {
      PATH: path,
      HOME: folder,
      TMPDIR: folder,
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      IOT_MTLS_ENABLED: '0',
      SFTP_ENABLED: '0',
      LOG_LEVEL: 'WARNING',
      ...(strict && { AUTH: 'true', USE_SSL: '1' }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece) => {
      printed = (printed + piece).slice(-5000)
    })
  }
  const exited = once(child, 'exit')
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await exited
      clearTimeout(killer)
    }
    rmSync(folder, { recursive: true, force: true })
  }
  const ca = strict ? join(folder, 'ministack-tls/server.crt') : undefined
  /** @type {Ministack['request']} */
  const request = async (options, body) => {
    const to = { host: '127.0.0.1', port, ...options }
    const message = ca
      ? https.request({ ...to, ca: readFileSync(ca), servername: 'localhost' })
      : http.request(to)
    message.end(body)
    const [response] = await once(message, 'response')
    return { status: response.statusCode, headers: response.headers, text: await text(response) }
  }
  const until = Date.now() + START_MS
  while ((await request({ path: '/_ministack/health' }).catch(() => undefined))?.status !== 200) {
    if (child.exitCode !== null || Date.now() > until) {
      await close()
      throw new Error(`ministack did not come up. It printed:\n${printed}`)
    }
    await pause(100)
  }
  return {
    url: `${strict ? 'https' : 'http'}://127.0.0.1:${port}`,
    folder,
    ca,
    request,
    call: (service, action, input) => call(request, service, action, input),
    close,
  }
}

/** Who speaks AWS JSON, and its name in `x-amz-target`. */
const TARGETS = /** @type {Record<string, string>} */ ({
  dynamodb: 'DynamoDB_20120810',
  events: 'AWSEvents',
  logs: 'Logs_20140328',
  monitoring: 'GraniteServiceVersion20100801',
  secretsmanager: 'secretsmanager',
  sqs: 'AmazonSQS',
  ssm: 'AmazonSSM',
  states: 'AWSStepFunctions',
})

/**
 * The header that names service and region, of the root of the account, whose signature nobody checks.
 * @param {string} service
 */
export const asRoot = (service) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=0`,
})

/**
 * One call, in AWS JSON, or, for IAM, as a form that is answered in XML.
 * @param {Ministack['request']} request @param {string} service @param {string} action @param {object} input
 */
async function call(request, service, action, input) {
  const target = TARGETS[service]
  const headers = asRoot(service)
  const { status, text } = await request(
    {
      method: 'POST',
      headers: target
        ? { ...headers, 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `${target}.${action}` }
        : { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    },
    target ? JSON.stringify(input) : new URLSearchParams({ Action: action, ...input }).toString(),
  )
  if (!target) {
    if (status >= 400) throw new Error(`${action}: ${text}`)
    return text
  }
  const json = text === '' ? {} : JSON.parse(text)
  if (status >= 400)
    throw new Error(`${action}: ${json.__type ?? status} ${json.message ?? json.Message ?? ''}`)
  return json
}
