import { cutText, duration, type RunError } from '@runbridge/core'
import { type ApiAnnotation, type ApiJob, type ApiStep, annotationsSchema } from './api.js'
import { cleanLines, linesOfStep } from './clean-log.js'
import { download } from './download.js'
import { limitedForMs, statusOf } from './errors.js'
import { send } from './request.js'
import { runPath, runWords, type Subject } from './run-reads.js'

/** Of a log, in bytes: what is streamed at most, what is kept of it, and what is shown. */
const LOG_MOST = 64 * 1_048_576
const LOG_KEEP = 1_048_576
const LOG_TAIL_BYTES = 8_192
const MAX_ANNOTATIONS = 10
const MAX_JOBS = 50

const BROKEN: readonly string[] = ['failure', 'timed_out', 'startup_failure', 'cancelled', 'action_required']

/** The job that failed first, then the one that was cancelled first: others are often cancelled for its sake. */
function failingJob(jobs: readonly ApiJob[]): ApiJob | undefined {
  const ended = [...jobs].sort((a, b) => (a.completed_at ?? 0) - (b.completed_at ?? 0))
  for (const conclusion of BROKEN) {
    const found = ended.find((job) => job.conclusion === conclusion)
    if (found) return found
  }
  return undefined
}

function failingStep({ steps }: ApiJob): ApiStep | undefined {
  return steps?.find(({ conclusion }) => typeof conclusion === 'string' && BROKEN.includes(conclusion))
}

/** What a failure is made of: where it happened, what GitHub noted about it, and the end of that step's log. */
export async function readFailure(
  subject: Subject,
  conclusion: string,
  jobs: readonly ApiJob[],
): Promise<{ readonly error: RunError; readonly job?: ApiJob }> {
  const job = failingJob(jobs)
  if (!job) return { error: { code: conclusion, message: 'GitHub shows no job of it.' } }
  const step = failingStep(job)
  const where = step ? `${job.name} / ${step.name}` : job.name
  const annotations = (await softly(subject, () => readAnnotations(subject, job))) ?? []
  const tail = (await softly(subject, () => readTail(subject, job, step))) ?? ''
  const [first] = annotations.filter((each) => each.annotation_level === 'failure')
  const detail = [jobTable(jobs), ...annotations.map(annotationLine), tail && `Log of ${where}:\n${tail}`]
  const error = {
    code: conclusion,
    message: first?.message ?? `Job ${job.name} ended with ${job.conclusion}.`,
    step: where,
    detail: detail.filter((part) => part !== '').join('\n\n'),
  }
  return { error, job }
}

async function readAnnotations(subject: Subject, job: ApiJob): Promise<ApiAnnotation[]> {
  const { owner, repo } = runPath(subject)
  const { data } = await send(subject.engine, {
    what: `the annotations of job ${job.name}`,
    client: subject.engine.clients.reads,
    // A job is a check run of the same id.
    route: 'GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations',
    path: { owner, repo, check_run_id: job.id },
    query: { per_page: MAX_ANNOTATIONS },
    signal: subject.context.signal,
  })
  return annotationsSchema.parse(data)
}

async function readTail(subject: Subject, job: ApiJob, step: ApiStep | undefined): Promise<string> {
  const { data, cut } = await downloadLog(subject, job, LOG_KEEP)
  const text = data.toString('utf8')
  // The first line of what was cut is only a part of one.
  const lines = cleanLines(cut ? text.slice(text.indexOf('\n') + 1) : text)
  const period = { startedAt: step?.started_at ?? undefined, endedAt: step?.completed_at ?? undefined }
  const shown = linesOfStep(lines, period).map((line) => line.text)
  return cutText(shown.join('\n'), LOG_TAIL_BYTES, 'tail')
}

export function downloadLog(subject: Subject, job: ApiJob, keep: number) {
  const { owner, repo } = runPath(subject)
  const sent = {
    what: `the log of job ${job.name}`,
    permission: 'Actions: read',
    client: subject.engine.clients.reads,
    route: 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs',
    path: { owner, repo, job_id: job.id },
    signal: subject.context.signal,
  }
  return download(subject.engine, sent, { most: LOG_MOST, keep })
}

/** What only adds to a failure must not keep it back: it is left out, unless a limit will be over soon. */
async function softly<T>(subject: Subject, read: () => Promise<T>): Promise<T | undefined> {
  const { engine, context } = subject
  try {
    return await read()
  } catch (thrown) {
    if (limitedForMs(thrown, engine.now()) !== undefined || context.signal.aborted) throw thrown
    const status = statusOf(thrown)
    const why =
      status === undefined ? (thrown instanceof Error ? thrown.name : 'unreadable') : `HTTP ${status}`
    engine.warn(`A part of the failure of ${runWords(subject)} could not be read (${why}) and is left out.`)
    return undefined
  }
}

function annotationLine({
  annotation_level: level,
  path,
  start_line: line,
  title,
  message,
}: ApiAnnotation): string {
  const where = path == null || path === '.github' ? '' : ` ${path}${line == null ? '' : `:${line}`}`
  return `${level ?? 'notice'}${where}: ${[title, message].filter(Boolean).join(': ')}`
}

function jobTable(jobs: readonly ApiJob[]): string {
  const rows = jobs.slice(0, MAX_JOBS).map((job) => {
    const { started_at: from, completed_at: to } = job
    const took = from != null && to != null && to >= from ? `, ${duration(to - from)}` : ''
    return `${job.name}: ${job.conclusion ?? job.status}${took}`
  })
  const more = jobs.length - rows.length
  return [`Jobs:`, ...rows, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}
