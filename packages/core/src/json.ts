/** A JSON value as RFC 8259 has it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
/** A JSON object; absent members are `undefined` so that optional fields spread cleanly. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}
/** A JSON Schema (2020-12) document. */
export type JsonSchema = JsonObject

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * JSON with object keys in code-unit order at every depth, so that equal values have equal text.
 * Shape after RFC 8785 (JSON Canonicalization Scheme); numbers and strings as `JSON.stringify` writes them.
 */
export function canonicalJson(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value ?? null)
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`)
  return `{${members.join(',')}}`
}
