import type { CallContext, LogPiece, RunRef } from '@runbridge/core'
import type { ApiJob } from './api.js'
import { cleanLines } from './clean-log.js'
import type { Engine } from './engine.js'
import { engineError, statusOf } from './errors.js'
import { downloadLog } from './failure.js'
import { remember } from './remember.js'
import { readAllJobs, readRun, type Subject } from './run-reads.js'
import { type GitHubActionsWorkflow, parseWorkflowId } from './workflow.js'

/** Of one job's log, in bytes; what comes before is left out and said so. */
const JOB_KEEP = 4 * 1_048_576
const MOST_LOGS = 16
const MOST_LENGTHS = 10_000

/**
 * The logs of the jobs that have ended, in the order in which they did, so that what is there stays where it is.
 * GitHub gives no log of a job before its end.
 */
export async function log(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  run: RunRef,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  context: CallContext,
): Promise<LogPiece> {
  const subject: Subject = { engine, name: parseWorkflowId(workflow.id), run, context }
  try {
    const present = await readRun(subject, engine.clients.reads)
    const over = present.status === 'completed' || (present.run_attempt ?? run.attempt) > run.attempt
    const jobs = (await readAllJobs(subject)).filter(({ status }) => status === 'completed')
    jobs.sort((a, b) => (a.completed_at ?? 0) - (b.completed_at ?? 0) || a.id - b.id)
    return await piece(subject, jobs, offset, limit, over)
  } catch (thrown) {
    throw engineError(thrown, { what: `the log of run ${run.id}`, permission: 'Actions: read' }, engine.now())
  }
}

async function piece(
  subject: Subject,
  jobs: readonly ApiJob[],
  offset: number,
  limit: number,
  over: boolean,
): Promise<LogPiece> {
  let start = 0
  let text = ''
  for (const job of jobs) {
    const length = subject.engine.logLengths.get(job.id)
    if (length !== undefined && start + length <= offset) {
      start += length
      continue
    }
    const printed = await jobText(subject, job)
    const from = Math.max(0, offset - start)
    text += printed.slice(from, from + limit - text.length)
    start += printed.length
    if (text.length >= limit) break
  }
  const end = Math.min(offset, start) + text.length
  const more = end < start || text.length >= limit
  return { text, complete: over && !more, ...(more && { next: end }) }
}

async function jobText(subject: Subject, job: ApiJob): Promise<string> {
  const { engine } = subject
  const known = engine.logs.get(job.id)
  if (known !== undefined) return known
  const printed = `== ${job.name} (${job.conclusion ?? job.status}) ==\n${await printedBy(subject, job)}\n`
  remember(engine.logs, job.id, printed, MOST_LOGS)
  remember(engine.logLengths, job.id, printed.length, MOST_LENGTHS)
  return printed
}

async function printedBy(subject: Subject, job: ApiJob): Promise<string> {
  if (job.conclusion === 'skipped') return '(skipped)\n'
  try {
    const { data, cut } = await downloadLog(subject, job, JOB_KEEP)
    const lines = cleanLines(data.toString('utf8')).map(({ text }) => text)
    return `${cut ? '[the beginning is left out]\n' : ''}${lines.join('\n')}\n`
  } catch (thrown) {
    const status = statusOf(thrown)
    if (status !== 404 && status !== 410) throw thrown
    return '(GitHub keeps no log of it)\n'
  }
}
