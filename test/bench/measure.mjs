import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { root } from '../bin/command.mjs'

/**
 * @typedef {{ name: string, value: number, unit: string, middle?: Range }} Figure
 */
/** @typedef {readonly [low: number, high: number]} Range */
/** @typedef {{ skipped: string }} Skipped why a part can't be measured here */

const rounded = (/** @type {number} */ value) => Number(value.toPrecision(3))

/**
 * @param {string} name
 * @param {number} value
 * @param {string} unit
 * @param {Range} [middle] what half of the values were between
 * @returns {Figure}
 */
export function figure(name, value, unit, middle) {
  const spread = middle && { middle: /** @type {Range} */ ([rounded(middle[0]), rounded(middle[1])]) }
  return { name, value: rounded(value), unit, ...spread }
}

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/**
 * The first and the third quartile.
 * @param {number[]} values
 * @returns {Range}
 */
export function middle(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (/** @type {number} */ part) => sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN
  return [at(0.25), at(0.75)]
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
