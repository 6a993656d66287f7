import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The repository's root, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Runs a command to its end and keeps what it printed; never rejects for an exit status.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ code: number, output: string, stdout: string, seconds: number }>}
 */
export function run(command, args, options = {}) {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output += text
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (signal !== null) output += `\n${command} was ended by ${signal}\n`
      resolve({ code: code ?? 1, output, stdout, seconds: (performance.now() - started) / 1000 })
    })
  })
}

/**
 * The path of a tool that `npm ci` installed in the workspace.
 * @param {string} name
 */
export function bin(name) {
  return `${root}node_modules/.bin/${name}`
}
