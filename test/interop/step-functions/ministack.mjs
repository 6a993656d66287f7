import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { root, run } from '../../bin/command.mjs'

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
 * @typedef {object} Ministack
 * @property {string} url
 * @property {(service: string, action: string, request: object) => Promise<any>} call throws what AWS calls an error
 * @property {() => Promise<void>} close
 */

/**
 * Starts ministack on loopback, with everything it writes in a folder of its own; `close` ends that process.
 * @returns {Promise<Ministack>}
 */
export async function startMinistack() {
  const python = await interpreter()
  const folder = mkdtempSync(join(tmpdir(), 'runbridge-ministack-'))
  const port = await freePort()
  const child = spawn(python, ['-m', 'ministack.app'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      TMPDIR: folder,
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      IOT_MTLS_ENABLED: '0',
      SFTP_ENABLED: '0',
      LOG_LEVEL: 'WARNING',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      printed = (printed + text).slice(-5000)
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
  const url = `http://127.0.0.1:${port}`
  const until = Date.now() + START_MS
  while (!(await answers(url))) {
    if (child.exitCode !== null || Date.now() > until) {
      await close()
      throw new Error(`ministack did not come up. It printed:\n${printed}`)
    }
    await pause(100)
  }
  return { url, call: (service, action, request) => call(url, service, action, request), close }
}

/** @param {string} url */
async function answers(url) {
  try {
    return (await fetch(`${url}/_ministack/health`)).ok
  } catch {
    return false
  }
}

const TARGETS = /** @type {Record<string, string>} */ ({ states: 'AWSStepFunctions', sqs: 'AmazonSQS' })

/**
 * One call in AWS JSON. The credential names service and region; nobody checks the signature.
 * @param {string} url @param {string} service @param {string} action @param {object} request
 */
async function call(url, service, action, request) {
  const credential = `local/20260101/us-east-1/${service}/aws4_request`
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `${TARGETS[service]}.${action}`,
      authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=0`,
    },
    body: JSON.stringify(request),
  })
  const text = await response.text()
  const json = text === '' ? {} : JSON.parse(text)
  if (!response.ok) throw new Error(`${action}: ${json.__type ?? response.status} ${json.message ?? ''}`)
  return json
}
