import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { root } from '../bin/command.mjs'

/**
 * @typedef {{ name: string, value: number, unit: string }} Figure
 */

/**
 * @param {string} name
 * @param {number} value
 * @param {string} unit
 * @returns {Figure}
 */
export function figure(name, value, unit) {
  return { name, value: Number(value.toPrecision(3)), unit }
}

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/**
 * A Node.js process that says something in its first line.
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
export async function child(args, env = {}) {
  const process_ = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(process_, 'exit')
  let printed = ''
  process_.stderr.setEncoding('utf8').on('data', (text) => {
    printed += text
  })
  /** @type {string} */
  const line = await new Promise((resolve, reject) => {
    let text = ''
    process_.stdout.setEncoding('utf8').on('data', (piece) => {
      text += piece
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')))
    })
    exited.then(() => reject(new Error(`node ${args.join(' ')} ended:\n${printed}`)))
  })
  return {
    line,
    async end() {
      if (process_.exitCode === null && process_.signalCode === null) process_.kill('SIGKILL')
      await exited
    },
  }
}
