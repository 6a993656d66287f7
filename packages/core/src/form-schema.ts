import { isJsonObject, type Json, type JsonSchema } from './json.js'

const PRIMITIVE = ['string', 'number', 'integer', 'boolean']

/**
 * Whether a form elicitation can ask for it: one object whose properties are all primitive (2025-11-25
 * client/elicitation, "Requested Schema").
 */
export function isFormSchema(schema: Json | undefined): schema is JsonSchema {
  if (!isJsonObject(schema) || schema.type !== 'object') return false
  const properties = schema.properties ?? {}
  return (
    isJsonObject(properties) &&
    Object.values(properties).every(
      (property) =>
        isJsonObject(property) && typeof property.type === 'string' && PRIMITIVE.includes(property.type),
    )
  )
}
