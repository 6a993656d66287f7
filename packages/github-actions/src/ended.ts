import type { Json, ReportedState, Snapshot } from '@runbridge/core'
import type { ApiJob } from './api.js'
import { readFailure } from './failure.js'
import type { RunView } from './marks.js'
import { passing, type Reading, snapshotOf } from './reading.js'
import { artifactLinks, readResult, resultOf } from './result-artifact.js'
import { readAllJobs, readArtifacts } from './run-reads.js'
import { DEFAULT_RESULT_ARTIFACT } from './workflow.js'

/** The end is read once, so all that belongs to it is read with it. */
export async function ended(reading: Reading, view: RunView, state: ReportedState): Promise<Snapshot> {
  const jobs = await readAllJobs(reading).catch((thrown: unknown) => passing<ApiJob[]>(reading, thrown, []))
  const last = Math.max(0, ...jobs.map((job) => job.completed_at ?? 0))
  const endedAt = last > 0 ? last : view.updatedAt
  const snapshot: Snapshot = { ...snapshotOf(view, state), ...(endedAt !== undefined && { endedAt }) }
  const conclusion = view.conclusion ?? ''
  switch (state) {
    case 'succeeded':
      return { ...snapshot, ...(await success(reading, view, jobs, endedAt)) }
    case 'failed':
    case 'timed_out': {
      const { error, job } = await readFailure(reading, conclusion, jobs)
      const url = job?.html_url
      const links = url ? [...snapshot.links, { title: `Job ${job.name}`, url }] : snapshot.links
      return { ...snapshot, error, links }
    }
    case 'lost': {
      const message = 'GitHub gave up on this run, and how it ended can not be told.'
      return { ...snapshot, error: { code: conclusion, message } }
    }
    default:
      return snapshot
  }
}

async function success(
  reading: Reading,
  view: RunView,
  jobs: readonly ApiJob[],
  endedAt: number | undefined,
): Promise<Pick<Snapshot, 'output' | 'outputOmitted' | 'links'>> {
  const { workflow } = reading
  const links = [{ title: 'Run on GitHub', url: view.url }]
  const name = workflow.resultArtifact ?? DEFAULT_RESULT_ARTIFACT
  const report = reportOf(view, jobs, endedAt)
  const artifacts = await readArtifacts(reading, name).catch((thrown: unknown) =>
    passing(reading, thrown, undefined),
  )
  if (!artifacts) {
    return name === false
      ? { output: report, links }
      : {
          outputOmitted:
            'The run succeeded and its artifacts can not be read; give the token the permission Actions: read.',
          links,
        }
  }
  const period = { from: view.startedAt, to: endedAt ?? view.updatedAt }
  const result = name === false ? undefined : resultOf(artifacts, name, period)
  const output = result ? await readResult(reading, result) : { output: report }
  return { ...output, links: [...links, ...artifactLinks(artifacts, view.url)] }
}

/** What a run without a result of its own comes to. */
function reportOf(view: RunView, jobs: readonly ApiJob[], endedAt: number | undefined): Json {
  const seconds = (from: number | null | undefined, to: number | null | undefined) =>
    from == null || to == null ? null : Math.max(0, Math.round((to - from) / 1000))
  return {
    conclusion: view.conclusion ?? null,
    seconds: seconds(view.startedAt, endedAt),
    jobs: jobs.map((job) => ({
      name: job.name,
      conclusion: job.conclusion ?? null,
      seconds: seconds(job.started_at, job.completed_at),
    })),
  }
}
