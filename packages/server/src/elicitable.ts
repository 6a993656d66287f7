import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '@runbridge/core'

/** What form elicitation allows in a primitive schema (2026-07-28 client/elicitation, "Requested Schema"). */
const KEYWORDS: Record<string, readonly string[]> = {
  string: ['minLength', 'maxLength', 'format', 'enum', 'oneOf', 'default'],
  number: ['minimum', 'maximum', 'default'],
  integer: ['minimum', 'maximum', 'default'],
  boolean: ['default'],
}
const FORMATS: readonly (Json | undefined)[] = ['email', 'uri', 'date', 'date-time', undefined]

/**
 * The schema under which one argument can be asked for by a form: what the form can express of it. The answer
 * is checked against the tool's whole schema afterwards. Undefined where a form can't ask for it: it is not
 * primitive, or it is secret (client/elicitation: servers never ask for passwords or keys by form).
 */
export function elicitableSchema(schema: Json | undefined): JsonSchema | undefined {
  if (!isJsonObject(schema) || typeof schema.type !== 'string') return undefined
  const allowed = KEYWORDS[schema.type]
  if (!allowed || schema.format === 'password' || schema.writeOnly === true) return undefined
  const kept = ['type', 'title', 'description', ...allowed].filter((keyword) => schema[keyword] !== undefined)
  if (!FORMATS.includes(schema.format)) kept.splice(kept.indexOf('format'), 1)
  return Object.fromEntries(kept.map((keyword) => [keyword, schema[keyword]]))
}

export function form(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonObject {
  return { type: 'object', properties: properties as JsonObject, required: [...required] }
}
