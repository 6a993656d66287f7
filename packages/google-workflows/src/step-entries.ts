import type { JsonObject, RunRef } from '@runbridge/core'
import * as z from 'zod'
import type { RestApi } from './rest-api.js'

const count = z.coerce.number().int().nonnegative()
const entry = z.object({
  /** Counts up within the execution. */
  entryId: count,
  routine: z.string().default(''),
  step: z.string().default(''),
  stepType: z.string().default(''),
  state: z.string().default(''),
  stepEntryMetadata: z
    .object({ progressNumber: count.optional(), expectedIteration: count.optional() })
    .optional(),
  /** Only at the detailed level. */
  variableData: z.object({ variables: z.record(z.string(), z.json()).default({}) }).optional(),
})
const page = z.object({ stepEntries: z.array(entry).default([]), nextPageToken: z.string().default('') })

/** One visit of a step. https://docs.cloud.google.com/workflows/docs/debug-steps */
export type StepEntry = z.infer<typeof entry>

const PAGE_SIZE = 1000
/** Where gates are, further back is looked than for progress: a step may wait long behind noisy branches. */
const MAX_PAGES = 5

/** The newest entries first: one page for progress, some for gates. Throws `EngineFailure`. */
export async function stepEntries(
  rest: RestApi,
  run: RunRef,
  all: boolean,
  signal: AbortSignal,
): Promise<StepEntry[]> {
  const entries: StepEntry[] = []
  let pageToken = ''
  for (let pages = 0; pages < (all ? MAX_PAGES : 1); pages += 1) {
    const query = {
      orderBy: 'entryId desc',
      pageSize: String(all ? PAGE_SIZE : 100),
      ...(pageToken !== '' && { pageToken }),
    }
    const path = `${run.id}/stepEntries`
    const read = pageOf(await rest.send({ api: 'executions', method: 'GET', path, query }, signal))
    entries.push(...read.stepEntries)
    pageToken = read.nextPageToken
    if (pageToken === '') break
  }
  return entries
}

/** An answer of a shape that is not known is no history. */
function pageOf(json: JsonObject): z.infer<typeof page> {
  const parsed = page.safeParse(json)
  return parsed.success ? parsed.data : { stepEntries: [], nextPageToken: '' }
}

export function inProgress({ state }: StepEntry): boolean {
  return state === 'STATE_IN_PROGRESS'
}
