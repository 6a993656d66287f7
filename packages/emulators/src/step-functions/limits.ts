import { invalidInput, invalidName, validation } from './errors.js'

/** Source: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html and the API reference. */
export const maxDataBytes = 262_144
export const maxErrorLength = 256
export const maxCauseLength = 32_768
const maxNameLength = 80

/** Whitespace, brackets, wildcards, `"#%\^|~`$&,;:/` and control characters are not allowed in a name. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const forbiddenInName = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\u0000-\u001f\u007f-\u009f]/

export function checkName(name: unknown, field = 'name'): asserts name is string {
  if (typeof name !== 'string' || name.length === 0)
    throw validation(field, name, 'have length greater than or equal to 1')
  if (name.length > maxNameLength)
    throw validation(field, name, `have length less than or equal to ${maxNameLength}`)
  if (forbiddenInName.test(name)) throw invalidName(name)
}

export function checkLength(field: string, value: unknown, limit: number): string | undefined {
  if (value === undefined || value === null) return undefined
  const text = String(value)
  if (text.length > limit)
    throw validation(field, `${text.slice(0, 40)}…`, `have length less than or equal to ${limit}`)
  return text
}

export function tooLarge(json: string): boolean {
  return Buffer.byteLength(json, 'utf8') > maxDataBytes
}

/** The input of a start, checked; absent means `{}`. */
export function executionInput(input: unknown): string {
  if (input === undefined || input === null) return '{}'
  const text = checkLength('input', input, maxDataBytes) as string
  if (text === '') throw invalidInput('Invalid execution input.')
  if (tooLarge(text))
    throw invalidInput(`Input exceeds the maximum number of bytes allowed (${maxDataBytes})`)
  try {
    JSON.parse(text)
  } catch (error) {
    throw invalidInput((error as Error).message)
  }
  return text
}

/** A page size: 1 to 1000; 0 or absent means the default. */
export function pageSize(value: unknown, fallback: number): number {
  if (value === undefined || value === null || value === 0) return fallback
  if (typeof value !== 'number' || value < 0)
    throw validation('maxResults', value, 'have value greater than or equal to 0')
  if (value > 1000) throw validation('maxResults', value, 'have value less than or equal to 1000')
  return value
}
