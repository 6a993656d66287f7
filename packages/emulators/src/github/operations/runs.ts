import { time } from '../bodies.js'
import { conflict, notAccessible, notFound } from '../errors.js'
import { jobLog } from '../job-log.js'
import { type Attempt, lastAttempt, type Run } from '../run.js'
import { annotationBody, jobBody, runBody } from '../run-bodies.js'
import { type JobView, type RunView, viewOf } from '../timeline.js'
import { type Call, type Operation, ok, pageOf, type Reply } from './operation.js'
import { workflowOf } from './workflows.js'

export const listWorkflowRuns: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs',
  needs: ['actions', 'read'],
  answer(call) {
    const workflow = workflowOf(call)
    return listed(
      call,
      [...call.repository.runs.values()].filter((run) => run.workflow === workflow),
    )
  },
}

export const listRepositoryRuns: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/runs',
  needs: ['actions', 'read'],
  answer: (call) => listed(call, [...call.repository.runs.values()]),
}

/** Newest first; of more than 1,000 GitHub shows no further ones. */
function listed({ state, query }: Call, runs: readonly Run[]): Reply {
  const now = state.now()
  const since = /^>=(.+)$/.exec(query.get('created') ?? '')?.[1]
  const found = runs
    .filter((run) => query.get('event') === null || run.event === query.get('event'))
    .filter((run) => query.get('branch') === null || run.ref === query.get('branch'))
    .filter((run) => since === undefined || time(run.attempts[0]?.startedAt ?? 0) >= time(Date.parse(since)))
    .filter((run) => !isHidden(run))
    .sort((a, b) => b.id - a.id)
  return ok({
    total_count: found.length,
    workflow_runs: pageOf(found.slice(0, 1000), query).map((run) => runBody(state.place, viewOf(run, now))),
  })
}

export const getRun: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/runs/{run_id}',
  needs: ['actions', 'read'],
  answer: (call) => ok(runBody(call.state.place, viewOf(shownRun(call), call.state.now()))),
}

export const getRunAttempt: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}',
  needs: ['actions', 'read'],
  answer: (call) => ok(runBody(call.state.place, attemptView(call))),
}

export const listJobs: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs',
  needs: ['actions', 'read'],
  answer(call) {
    const view = attemptView(call)
    const now = call.state.now()
    const shown = view.jobs.filter((job) => job.readyAt <= now)
    const jobs = pageOf(shown, call.query).map((job) => jobBody(call.state.place, view, job, now))
    return ok({ total_count: shown.length, jobs })
  },
}

export const cancelRun: Operation = {
  method: 'POST',
  path: '/repos/{owner}/{repo}/actions/runs/{run_id}/cancel',
  needs: ['actions', 'write'],
  answer: (call) => stop(call, 'cancelledAt'),
}

export const forceCancelRun: Operation = {
  method: 'POST',
  path: '/repos/{owner}/{repo}/actions/runs/{run_id}/force-cancel',
  needs: ['actions', 'write'],
  answer: (call) => stop(call, 'forcedAt'),
}

function stop(call: Call, by: 'cancelledAt' | 'forcedAt'): Reply {
  const run = knownRun(call)
  const now = call.state.now()
  if (viewOf(run, now).status === 'completed') {
    throw conflict('Cannot cancel a workflow run that is completed.')
  }
  lastAttempt(run)[by] ??= now
  return { status: 202, body: {} }
}

export const approveRun: Operation = {
  method: 'POST',
  path: '/repos/{owner}/{repo}/actions/runs/{run_id}/approve',
  needs: ['actions', 'write'],
  answer(call) {
    const run = knownRun(call)
    if (viewOf(run, call.state.now()).conclusion !== 'action_required') throw notAccessible('user')
    lastAttempt(run).approvedAt = call.state.now()
    return { status: 201, body: {} }
  },
}

export const downloadJobLog: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/jobs/{job_id}/logs',
  needs: ['actions', 'read'],
  answer({ state, repository, params }) {
    const { view, job } = jobOf(repository.runs, Number(params.job_id), state.now())
    if (job.endedAt > state.now()) throw notFound()
    const name = `log-${job.id}`
    state.blobs.set(name, { type: 'text/plain; charset=utf-8', data: Buffer.from(jobLog(job)) })
    return { status: 302, headers: { location: `${state.place.html}/_blobs/${name}?run=${view.run.id}` } }
  },
}

export const listAnnotations: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations',
  needs: ['checks', 'read'],
  answer({ state, repository, params, query }) {
    const { view, job } = jobOf(repository.runs, Number(params.check_run_id), state.now())
    const shown = job.endedAt <= state.now() ? (job.script.annotations ?? []) : []
    return ok(pageOf(shown, query).map((annotation) => annotationBody(state.place, view, annotation)))
  },
}

function jobOf(
  runs: ReadonlyMap<number, Run>,
  id: number,
  now: number,
): { readonly view: RunView; readonly job: JobView } {
  const run = runs.get(Math.floor(id / 100_000))
  const attempt = run?.attempts[Math.floor((id % 100_000) / 1000) - 1]
  if (!run || !attempt) throw notFound()
  const view = viewOf(run, now, attempt)
  const job = view.jobs.find((each) => each.id === id)
  if (!job) throw notFound()
  return { view, job }
}

/** Counts the look where the run is hidden for some. */
function isHidden(run: Run): boolean {
  if (run.hiddenLooks === 0) return false
  run.hiddenLooks -= 1
  return true
}

export function shownRun(call: Call): Run {
  const run = knownRun(call)
  if (isHidden(run)) throw notFound()
  return run
}

function knownRun({ repository, params }: Call): Run {
  const run = repository.runs.get(Number(params.run_id))
  if (!run) throw notFound()
  return run
}

function attemptView(call: Call): RunView {
  const run = shownRun(call)
  const attempt: Attempt | undefined = run.attempts[Number(call.params.attempt_number) - 1]
  if (!attempt) throw notFound()
  return viewOf(run, call.state.now(), attempt)
}
