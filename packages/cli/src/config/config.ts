import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { RunbridgeError } from '@runbridge/core'
import * as yaml from 'yaml'
import type { Environment } from './environment.js'
import { type ConfigResult, parseConfigWith, problemList } from './parse-config.js'
import type { Config } from './schema.js'

/** Reads the text of a `runbridge.yaml`. */
export function parseConfig(text: string, env: Environment): ConfigResult {
  return parseConfigWith(yaml, text, env)
}

/** Reads the file. Throws a RunbridgeError `misconfigured` that lists every problem, one a line. */
export async function loadConfig(file: string, env: Environment): Promise<Config> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'ENOENT' ? 'there is no such file' : cause.message
    throw new RunbridgeError('misconfigured', `${file}: ${why}; name one with --config`, { cause })
  })
  const result = parseConfig(text, env)
  if (!result.ok) throw new RunbridgeError('misconfigured', problemList(file, result.problems))
  return withAbsolutePaths(result.config, dirname(resolve(file)))
}

function withAbsolutePaths(config: Config, folder: string): Config {
  const { sqlite } = config.store
  if (sqlite === undefined) return config
  return { ...config, store: { sqlite: { path: resolve(folder, sqlite.path) } } }
}
