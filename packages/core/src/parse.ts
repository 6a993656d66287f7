import type * as z from 'zod'
import { RunbridgeError } from './errors.js'

/** The value as the schema gives it back. Throws `invalid_input` that names the path below `name` and the rule. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, name: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const path = [name, ...(issue?.path ?? [])].map(String).join('.')
  throw new RunbridgeError('invalid_input', `${path}: ${issue?.message ?? 'invalid'}.`)
}
