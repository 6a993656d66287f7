import { writeSync } from 'node:fs'
import type { Log } from '@runbridge/core'
import { plainError } from './plain-error.js'

/** In the order of weight, with the numbers that pino gives them. */
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50, silent: 99 } as const

/**
 * JSON lines on standard error as pino writes them, without pino: where the size of the program is what a start costs.
 * @param level nothing below it is written
 */
export function jsonLog(level: keyof typeof LEVELS): Log {
  const line = (name: 'info' | 'warn' | 'error') => (fields: unknown, message?: string) => {
    if (LEVELS[name] < LEVELS[level]) return
    const [more, msg] = typeof fields === 'string' ? [{}, fields] : [fields as object, message]
    const entry = { level: LEVELS[name], time: new Date().toISOString(), ...more, msg }
    writeSync(2, `${JSON.stringify(entry, (_, value) => plainError(value))}\n`)
  }
  return { info: line('info'), warn: line('warn'), error: line('error') }
}
