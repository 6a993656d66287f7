import type { Marks } from '@runbridge/core'
import * as z from 'zod'

/** A task that waits for its token. Holds none. */
const tokenTask = z.object({
  /** The id of the event that scheduled it. */
  event: z.int(),
  /** ms since the epoch. */
  deadline: z.number().optional(),
  /** The parameters were read, once, for what the question takes from them. */
  asked: z.literal(true).optional(),
  prompt: z.string().optional(),
  schema: z.record(z.string(), z.json()).optional(),
})

/** A visit of a state: entered, and not left. */
const visit = z.object({
  /** The event that entered it. */
  entered: z.int(),
  name: z.string(),
  /** The state's type: `Task`, `Map`, `Parallel` and so on. */
  type: z.string(),
  /** ms since the epoch. */
  since: z.number().optional(),
  failedTries: z.int().optional(),
  /** The open task of a Task state. */
  task: tokenTask.optional(),
  /** Of a Map: its iterations, and how many succeeded. */
  total: z.int().optional(),
  done: z.int().optional(),
  failed: z.int().optional(),
  /** Of a distributed Map: its Map Run while it goes on. */
  mapRunArn: z.string().optional(),
})

/** A line of events, each led to by the one before: the execution's own, a branch's or an iteration's. */
const line = z.object({
  /** Its last event; the next one names it as its previous. */
  tail: z.int(),
  /** The event that entered the Parallel or Map state around it; absent at the top and where it is not known. */
  within: z.int().optional(),
  visit: visit.optional(),
  /** The attempt ended here; a redrive may go on. */
  over: z.literal(true).optional(),
})

const marks = z.object({
  lastEvent: z.int(),
  lines: z.array(line),
  /** The executions that this one started, newest last. */
  nested: z.array(z.string()),
  /** ms since the epoch. */
  startedAt: z.number().optional(),
  /** How many looks ago AWS was asked for the status itself. */
  looks: z.int(),
})

/** How far the history was read, and where the execution is there. Holds no token. */
export type RunMarks = z.infer<typeof marks>
export type Line = z.infer<typeof line>
export type Visit = z.infer<typeof visit>
export type TokenTask = z.infer<typeof tokenTask>

export const NO_MARKS: RunMarks = { lastEvent: 0, lines: [], nested: [], looks: 0 }

/** What an earlier read noted, or undefined for notes that are not ours. */
export function parseMarks(given: Marks | undefined): RunMarks | undefined {
  const parsed = marks.safeParse(given)
  return parsed.success ? parsed.data : undefined
}
