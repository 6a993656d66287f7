import { RunbridgeError } from '@runbridge/core'
import { checkValue } from './check-value.js'
import { type Environment, substituted } from './environment.js'
import { type Problem, pathText } from './problems.js'
import type { Config } from './schema.js'

type Path = readonly (string | number)[]

/** A `runbridge.yaml` as JSON, before the environment: what `compileConfig` makes, to be read without a YAML parser. */
export interface CompiledConfig {
  readonly value: unknown
  /** Where references stand without quotes, which may become numbers and booleans. */
  readonly unquoted: readonly Path[]
  /** Whether the schemas of the tools have been found to be ones, as far as that can be before the environment. */
  readonly schemasChecked: boolean
}

/** The environment, then the schema and the rules. Throws `misconfigured` with every problem, one a line. */
export function readCompiled({ value, unquoted }: CompiledConfig, env: Environment): Config {
  const plain = new Set(unquoted.map((path) => JSON.stringify(path)))
  const unresolved: Problem[] = []

  function resolved(node: unknown, path: Path): unknown {
    if (typeof node === 'string') {
      const { value, problems } = substituted(node, path, env, plain.has(JSON.stringify(path)))
      unresolved.push(...problems)
      return value
    }
    if (Array.isArray(node)) return node.map((item, index) => resolved(item, [...path, index]))
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(
      Object.entries(node).map(([key, item]) => [key, resolved(item, [...path, key])]),
    )
  }

  const { config, problems } = checkValue(resolved(value, []))
  if (config && unresolved.length === 0 && problems.length === 0) return config
  // What could not be resolved is wrong for the schema too.
  const lines = (unresolved.length > 0 ? unresolved : problems).map(
    ({ path, message }) => `  ${pathText(path)}: ${message}`,
  )
  throw new RunbridgeError('misconfigured', ['The configuration has problems:', ...lines].join('\n'))
}
