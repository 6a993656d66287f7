import type { JsonObject } from '@runbridge/core'
import { isJsonObject } from '@runbridge/core'
import type * as z from 'zod'
import { schemaAt } from './editor-schema.js'
import { closest } from './suggest.js'

/** One thing that is wrong in the file: where, which rule, and what to write instead. Never shows a value. */
export interface Problem {
  readonly path: readonly PropertyKey[]
  readonly message: string
  /** Points at the key instead of its value. */
  readonly atKey?: boolean
}

/** `tools[0].holdMs`; `(file)` for the whole. */
export function pathText(path: readonly PropertyKey[]): string {
  const text = path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '')
  return text === '' ? '(file)' : text
}

/** What zod found, in our words. `value` is what was validated. */
export function problemsOf(issues: readonly z.core.$ZodIssue[], value: unknown): Problem[] {
  return issues.flatMap((issue) => {
    const { path } = issue
    if (issue.code === 'invalid_union') {
      const first = issue.errors[0] ?? []
      return problemsOf(
        first.map((inner) => ({ ...inner, path: [...path, ...inner.path] })),
        value,
      )
    }
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(path, key))
    const given = valueAt(value, path)
    if (given === '' && issue.code === 'too_small') return [{ path, message: `is empty${described(path)}` }]
    if (given === undefined) return [{ path, message: `is missing${described(path)}` }]
    if (issue.code === 'invalid_type') return [{ path, message: wrongType(issue.expected, given, path) }]
    if (issue.code === 'invalid_value') return [{ path, message: wrongOption(issue.values, given) }]
    return [{ path, message: lowerFirst(issue.message) }]
  })
}

function unknownKey(path: readonly PropertyKey[], key: string): Problem {
  const known = Object.keys((schemaAt(path)?.properties as JsonObject | undefined) ?? {})
  const suggestion = closest(key, known)
  const hint = suggestion ? `did you mean \`${suggestion}\`?` : `known here: ${known.join(', ') || 'nothing'}`
  return { path: [...path, key], atKey: true, message: `unknown key; ${hint}` }
}

function wrongType(expected: string, given: unknown, path: readonly PropertyKey[]): string {
  const is = `is ${typeName(given)}`
  if (path.length === 0) return `${is}; write \`tools:\`, with the tools below it`
  const key = String(path.at(-1))
  if (expected === 'string' && typeof given !== 'object') return `${is}; put quotes around it`
  if (expected === 'number' && key.endsWith('Ms')) return `${is}; write milliseconds, such as 45000`
  if (expected === 'object' || expected === 'record') return `${is}; write an object, such as \`${key}: {}\``
  if (expected === 'array') return `${is}; write a list: each entry starts with \`- \``
  return `${is}; expected ${expected === 'int' ? 'a whole number' : `a ${expected}`}`
}

function wrongOption(values: readonly unknown[], given: unknown): string {
  const options = values.map(String)
  const suggestion = typeof given === 'string' ? closest(given, options) : undefined
  const hint = suggestion ? `; did you mean \`${suggestion}\`?` : ''
  return `must be one of ${options.join(', ')}${hint}`
}

function described(path: readonly PropertyKey[]): string {
  const description = schemaAt(path)?.description
  return typeof description === 'string' ? `: ${lowerFirst(description)}` : ''
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let node = value
  for (const step of path) {
    if (Array.isArray(node) && typeof step === 'number') node = node[step]
    else if (isJsonObject(node) && typeof step === 'string') node = node[step]
    else return undefined
  }
  return node
}

function typeName(value: unknown): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
