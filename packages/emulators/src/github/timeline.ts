import { type Attempt, lastAttempt, type Run } from './run.js'
import type { Conclusion, JobScript, RunScript, StepConclusion, StepScript } from './script.js'

export interface StepView extends Period {
  readonly script: StepScript
  readonly number: number
}

export interface JobView extends Period {
  readonly script: JobScript
  readonly id: number
  /** Since when it can begin, and waits for a runner or for people. */
  readonly readyAt: number
  readonly waiting: boolean
  readonly steps: readonly StepView[]
}

export interface RunView {
  readonly run: Run
  readonly attempt: Attempt
  readonly script: RunScript
  readonly status: string
  readonly conclusion: Conclusion | null
  readonly updatedAt: number
  readonly jobs: readonly JobView[]
}

/** As planned: times in the future are not there yet, and `conclusion` counts from `endedAt` on. */
interface Period {
  readonly startedAt: number
  readonly endedAt: number
  readonly conclusion: StepConclusion
}

const NEVER = Number.POSITIVE_INFINITY

/** What a run looks like now. Nothing runs: it all follows from the script, from what was done to it, and the time. */
export function viewOf(run: Run, now: number, attempt: Attempt = lastAttempt(run)): RunView {
  const script = scriptOf(run, attempt)
  const leftQueue = (attempt.approvedAt ?? attempt.startedAt) + (script.queuedMs ?? 0)
  const jobs = planJobs(run, attempt, script, leftQueue)
  const endedAt = jobs.length === 0 ? leftQueue : Math.max(...jobs.map((job) => job.endedAt))
  const ended = endedAt <= now && script.status === undefined
  return {
    run,
    attempt,
    script,
    status: ended ? 'completed' : statusOf(script, jobs, leftQueue, now),
    conclusion: ended ? (script.conclusion ?? conclusionOf(jobs)) : null,
    updatedAt: Math.max(...moments(attempt, leftQueue, jobs).filter((at) => at <= now)),
    jobs,
  }
}

function scriptOf({ workflow, inputs }: Run, { number, reviews, approvedAt }: Attempt): RunScript {
  const { script = {} } = workflow
  if (typeof script !== 'function') return script
  return script({ inputs, attempt: number, reviews, approved: approvedAt !== undefined })
}

/** What happens to the run at one time or another. */
function moments(attempt: Attempt, leftQueue: number, jobs: readonly JobView[]): number[] {
  const { startedAt, cancelledAt = NEVER, forcedAt = NEVER, approvedAt = NEVER, reviews } = attempt
  const steps = jobs.flatMap((job) => [job.readyAt, job.startedAt, job.endedAt])
  return [startedAt, leftQueue, cancelledAt, forcedAt, approvedAt, ...reviews.map(({ at }) => at), ...steps]
}

function statusOf(script: RunScript, jobs: readonly JobView[], leftQueue: number, now: number): string {
  if (script.status !== undefined) return script.status
  if (now < leftQueue) return script.queuedAs ?? 'queued'
  if (jobs.some((job) => job.startedAt <= now && job.endedAt > now)) return 'in_progress'
  if (jobs.some((job) => isWaiting(job, now))) return 'waiting'
  return jobs.some((job) => job.endedAt <= now) ? 'in_progress' : 'queued'
}

export function isWaiting(job: JobView, now: number): boolean {
  return job.waiting && job.readyAt <= now && job.startedAt > now && job.endedAt > now
}

function conclusionOf(jobs: readonly JobView[]): Conclusion {
  const of = (conclusion: StepConclusion) => jobs.some((job) => job.conclusion === conclusion)
  for (const conclusion of ['cancelled', 'failure', 'timed_out', 'action_required'] as const) {
    if (of(conclusion)) return conclusion
  }
  return jobs.length > 0 && jobs.every((job) => job.conclusion === 'skipped') ? 'skipped' : 'success'
}

function planJobs(run: Run, attempt: Attempt, script: RunScript, leftQueue: number): JobView[] {
  const planned: JobView[] = []
  for (const [index, job] of (script.jobs ?? []).entries()) {
    const needed = planned.filter(({ script: { name } }) => job.needs?.includes(name))
    const readyAt = Math.max(leftQueue, ...needed.map(({ endedAt }) => endedAt))
    const id = run.id * 100_000 + attempt.number * 1_000 + index
    planned.push(planJob(run, attempt, job, id, readyAt, needed))
  }
  return planned
}

function planJob(
  run: Run,
  attempt: Attempt,
  script: JobScript,
  id: number,
  readyAt: number,
  needed: readonly JobView[],
): JobView {
  const stopAt = Math.min(
    attempt.forcedAt ?? NEVER,
    script.ignoresCancel ? NEVER : (attempt.cancelledAt ?? NEVER),
  )
  const never = (endedAt: number, conclusion: StepConclusion): JobView => {
    const waiting = guarded(run, script)
    return { script, id, readyAt, waiting, startedAt: endedAt, endedAt, conclusion, steps: [] }
  }
  if (needed.some(({ conclusion }) => conclusion !== 'success') && readyAt < NEVER)
    return never(readyAt, 'skipped')
  if (stopAt <= readyAt) return never(stopAt, 'cancelled')
  const review = guarded(run, script)
    ? attempt.reviews.find(({ environment, at }) => environment === script.environment && at >= readyAt)
    : undefined
  if (guarded(run, script) && !review) return never(stopAt, 'cancelled')
  if (review?.state === 'rejected') return never(review.at, 'failure')
  const startedAt = (review?.at ?? readyAt) + (script.queuedMs ?? 0)
  if (stopAt <= startedAt) return never(stopAt, 'cancelled')
  const steps = planSteps(script.steps, startedAt, stopAt)
  const broken = steps.find(({ conclusion }) => conclusion !== 'success' && conclusion !== 'skipped')
  const endedAt = steps.at(-1)?.endedAt ?? startedAt
  const conclusion = broken?.conclusion ?? 'success'
  return { script, id, readyAt, waiting: guarded(run, script), startedAt, endedAt, conclusion, steps }
}

/** Whether people decide on the job: its environment has reviewers. */
function guarded({ repository }: Run, { environment }: JobScript): boolean {
  const found = repository.environments.find(({ name }) => name === environment)
  return found !== undefined && found.reviewers.length > 0
}

function planSteps(scripts: readonly StepScript[], from: number, stopAt: number): StepView[] {
  let at = from
  let over = false
  return scripts.map((script, index) => {
    const startedAt = at
    const number = index + 1
    if (over) return { script, number, startedAt, endedAt: at, conclusion: 'skipped' }
    at += script.ms ?? 0
    if (at > stopAt) {
      at = stopAt
      over = true
      return { script, number, startedAt, endedAt: at, conclusion: 'cancelled' }
    }
    const conclusion = script.conclusion ?? 'success'
    over = conclusion !== 'success' && conclusion !== 'skipped'
    return { script, number, startedAt, endedAt: at, conclusion }
  })
}
