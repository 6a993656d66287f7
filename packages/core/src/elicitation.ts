import * as z from 'zod'
import type { JsonObject } from './json.js'
import type { InputResponse } from './service/task-service.js'

/** `ElicitResult`, alike in the schemas of 2025-06-18 and later: form answers are flat and primitive. */
const elicitResult = z.discriminatedUnion('action', [
  z.looseObject({
    action: z.literal('accept'),
    content: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
      .optional(),
  }),
  z.looseObject({ action: z.literal('decline') }),
  z.looseObject({ action: z.literal('cancel') }),
])

/** What a person answered, or undefined for a value that is no elicitation result. */
export function parseElicitResult(value: unknown): InputResponse | undefined {
  const parsed = elicitResult.safeParse(value)
  if (!parsed.success) return undefined
  if (parsed.data.action !== 'accept') return { action: parsed.data.action }
  return { action: 'accept', content: (parsed.data.content ?? {}) as JsonObject }
}
