import type { Document } from 'yaml'
import type { Problem } from './problems.js'
import type { Yaml } from './yaml.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** `$${` (a literal `${`), `${NAME}`, `${NAME:-default}`, or a `${` that is none of them. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{/g

/**
 * Replaces references to the environment in the document's values, in place; keys are left alone. The default
 * counts when the variable is unset or empty, as in a shell. An unquoted value becomes a number or a boolean
 * where it now reads as one, so that `port: ${PORT}` works; quotes keep it a string.
 */
export function substituteEnvironment(yaml: Yaml, document: Document, env: Environment): Problem[] {
  const { isMap, isScalar, isSeq } = yaml

  function substituteIn(node: unknown, path: readonly (string | number)[]): Problem[] {
    if (isMap(node)) {
      return node.items.flatMap(({ key, value }) => {
        return substituteIn(value, [...path, String(isScalar(key) ? key.value : key)])
      })
    }
    if (isSeq(node)) return node.items.flatMap((item, index) => substituteIn(item, [...path, index]))
    if (!isScalar(node) || typeof node.value !== 'string') return []
    const { value, problems } = substituted(node.value, path, env, node.type === yaml.Scalar.PLAIN)
    node.value = value
    return problems
  }

  return substituteIn(document.contents, [])
}

/** One value. */
export function substituted(
  written: string,
  path: readonly (string | number)[],
  env: Environment,
  unquoted: boolean,
): { value: unknown; problems: Problem[] } {
  const { text, errors } = substitute(written, env)
  const value = text !== written && unquoted ? numberOrBoolean(text) : text
  return { value, problems: errors.map((message) => ({ path, message })) }
}

function substitute(written: string, env: Environment): { text: string; errors: string[] } {
  const errors: string[] = []
  const text = written.replace(REFERENCE, (reference: string, name?: string, fallback?: string) => {
    if (reference === '$${') return '${'
    if (name === undefined) {
      errors.push(
        `malformed reference: write ${literal('NAME')} or ${literal('NAME:-default')}, or \`$\${\` for \`\${\``,
      )
      return reference
    }
    if (fallback?.includes('${')) {
      errors.push(
        `the default of ${name} holds another reference, which is not looked up: write a plain text`,
      )
      return reference
    }
    const value = env[name]
    if (fallback !== undefined) return value || fallback
    if (value !== undefined) return value
    errors.push(
      `the environment variable ${name} is not set: set it, or write ${literal(`${name}:-default`)}`,
    )
    return reference
  })
  return { text, errors }
}

function literal(inside: string): string {
  return `\`\${${inside}}\``
}

/** Only what writes back to the same text: `007` and `1e3` stay strings. */
function numberOrBoolean(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?[0-9.]+$/.test(text) && String(Number(text)) === text ? Number(text) : text
}
