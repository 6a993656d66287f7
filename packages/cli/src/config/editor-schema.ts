import type { JsonObject, JsonSchema } from '@runbridge/core'
import { isJsonObject } from '@runbridge/core'
import * as z from 'zod'
import { configSchema } from './schema.js'

/** The JSON Schema of `runbridge.yaml`, as published for editors in `schema/runbridge.schema.json`. */
export function editorSchema(): JsonSchema {
  return z.toJSONSchema(configSchema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      // `port: ${PORT}` is a string to an editor, which knows no environment.
      if (jsonSchema.type === 'integer' || jsonSchema.type === 'boolean') {
        Object.assign(jsonSchema, { type: [jsonSchema.type, 'string'], pattern: '^\\$\\{' })
      }
    },
  }) as JsonSchema
}

/** What the schema says at a path of the file: `['tools', 0, 'annotations']`; undefined where it says nothing. */
export function schemaAt(path: readonly PropertyKey[]): JsonObject | undefined {
  let node: unknown = editorSchema()
  for (const step of path) {
    node = firstOf(node)
    if (!isJsonObject(node)) return undefined
    const { properties, items, additionalProperties } = node
    const named = typeof step === 'string' && isJsonObject(properties) ? properties[step] : undefined
    node = typeof step === 'number' ? items : (named ?? additionalProperties)
  }
  node = firstOf(node)
  return isJsonObject(node) ? node : undefined
}

/** Where several shapes are allowed, the first is the one to describe. */
export function firstOf(node: unknown): unknown {
  return isJsonObject(node) && Array.isArray(node.anyOf) ? node.anyOf[0] : node
}
