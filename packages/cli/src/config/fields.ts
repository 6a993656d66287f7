import type { JsonObject } from '@runbridge/core'
import * as z from 'zod'

export const text = (description: string) => z.string().min(1).describe(description)
export const ms = (description: string) => z.int().min(0).describe(`${description}, in milliseconds`)

/** JSON as YAML gives it. What it must be as a JSON Schema is checked when the tool is composed. */
export const jsonObject = (description: string) =>
  (z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject>).meta({ description })
