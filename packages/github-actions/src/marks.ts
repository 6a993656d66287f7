import type { Marks } from '@runbridge/core'
import * as z from 'zod'

/** One page of jobs, as far as progress needs it. */
const jobPage = z.object({
  etag: z.string().optional(),
  total: z.int(),
  jobs: z.int(),
  done: z.int(),
  running: z.int(),
  /** The first job that runs, in words. */
  current: z.string().optional(),
  /** The first job that waits for a runner or for people, in words. */
  held: z.string().optional(),
  /** Whether a job waits for people. */
  waiting: z.boolean(),
})
export type JobPage = z.infer<typeof jobPage>

const pendingEnvironment = z.object({
  id: z.int(),
  name: z.string(),
  mayApprove: z.boolean(),
  reviewers: z.array(z.string()),
  /** When its timer is over, in ms since the epoch. */
  opensAt: z.number().optional(),
})
export type PendingEnvironment = z.infer<typeof pendingEnvironment>

const runView = z.object({
  status: z.string(),
  conclusion: z.string().optional(),
  url: z.string(),
  startedAt: z.number().optional(),
  updatedAt: z.number().optional(),
})
export type RunView = z.infer<typeof runView>

const marks = z.object({
  run: z.object({ etag: z.string(), view: runView }).optional(),
  jobs: z.array(jobPage).optional(),
  pending: z.object({ etag: z.string(), environments: z.array(pendingEnvironment) }).optional(),
  /** How often each environment was reviewed, by id. */
  reviews: z.object({ etag: z.string(), counts: z.record(z.string(), z.int()) }).optional(),
})

/** What the last looks saw, with the ETags by which GitHub says that it is still so. */
export type RunMarks = z.infer<typeof marks>

/** What an earlier read noted; nothing for notes that are not ours. */
export function parseMarks(given: Marks | undefined): RunMarks {
  const parsed = marks.safeParse(given)
  return parsed.success ? parsed.data : {}
}
