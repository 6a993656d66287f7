import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { root } from './command.mjs'

/** Credentials that no endpoint on loopback looks at; the SDK wants some. */
const CREDENTIALS = {
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_EC2_METADATA_DISABLED: 'true',
}

/**
 * @typedef {object} Served a real `runbridge serve` process
 * @property {string} url where MCP is, `http://127.0.0.1:PORT/mcp`
 * @property {number} pid
 * @property {() => string} log what it printed so far
 * @property {(signal?: NodeJS.Signals) => Promise<number | null>} end sends the signal, SIGTERM by default, and
 *   gives the exit status; null where the signal itself ended it. SIGKILL follows after ten seconds.
 */

/**
 * `runbridge serve` from dist as a process that somebody starts.
 * @param {{ config: string, env?: NodeJS.ProcessEnv, flags?: readonly string[] }} options
 */
export function serveCommand({ config, env = {}, flags = [] }) {
  return {
    command: process.execPath,
    args: [`${root}packages/cli/dist/main.js`, 'serve', '--config', config, ...flags],
    cwd: root,
    env: { ...process.env, ...CREDENTIALS, ...env },
  }
}

/**
 * Starts `runbridge serve` from dist and resolves when it says where it listens.
 * @param {{ config: string, env?: NodeJS.ProcessEnv, timeoutMs?: number }} options
 * @returns {Promise<Served>}
 */
export async function serve({ config, env = {}, timeoutMs = 20_000 }) {
  const { command, args, ...options } = serveCommand({ config, env })
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  const exited = once(child, 'exit')
  /** @type {Promise<string>} */
  const listening = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        printed += text
        const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(printed)
        if (url) resolve(url[0])
      })
    }
  })
  const tooLate = new AbortController()
  const timer = setTimeout(() => tooLate.abort(), timeoutMs)
  const url = await Promise.race([
    listening,
    exited.then(() => undefined),
    once(tooLate.signal, 'abort').then(() => null),
  ])
  clearTimeout(timer)
  if (typeof url !== 'string') {
    child.kill('SIGKILL')
    const why = url === undefined ? 'ended' : `did not say where it listens within ${timeoutMs / 1000} s`
    throw new Error(
      `\`runbridge serve --config ${config}\` ${why}. It printed:\n${printed.trim() || '(nothing)'}`,
    )
  }
  return {
    url,
    pid: child.pid ?? 0,
    log: () => printed,
    async end(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal)
        const killer = setTimeout(() => child.kill('SIGKILL'), 10_000)
        await exited
        clearTimeout(killer)
      }
      return child.exitCode
    },
  }
}
