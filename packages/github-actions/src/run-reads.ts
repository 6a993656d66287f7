import type { CallContext, RunRef } from '@runbridge/core'
import {
  type ApiArtifact,
  type ApiJob,
  type ApiReview,
  type ApiRun,
  artifactsSchema,
  jobsSchema,
  pendingSchema,
  reviewsSchema,
  runSchema,
} from './api.js'
import type { GitHubClient } from './clients.js'
import type { Engine } from './engine.js'
import type { PendingEnvironment } from './marks.js'
import { type Fresh, readIfChanged, send } from './request.js'
import type { WorkflowName } from './workflow.js'

const PAGE = 100
/** As many jobs as a run with the largest matrix of matrices has that GitHub still shows well. */
const MAX_PAGES = 10

/** A run and how to ask about it. */
export interface Subject {
  readonly engine: Engine
  readonly name: WorkflowName
  readonly run: RunRef
  readonly context: CallContext
}

const RUN = '/repos/{owner}/{repo}/actions/runs/{run_id}'

export function runPath({ name: { owner, repo }, run }: Subject) {
  return { owner, repo, run_id: run.id }
}

export function runWords({ name: { owner, repo }, run }: Subject): string {
  return `run ${run.id} of ${owner}/${repo}`
}

/** Our attempt, whatever attempts there were since. */
export async function readAttempt(subject: Subject, etag: string | undefined): Promise<Fresh> {
  return readIfChanged(subject.engine, {
    what: runWords(subject),
    client: subject.engine.clients.reads,
    route: `GET ${RUN}/attempts/{attempt_number}`,
    path: { ...runPath(subject), attempt_number: subject.run.attempt },
    etag,
    signal: subject.context.signal,
  })
}

/** The run in its present attempt. */
export async function readRun(subject: Subject, client: GitHubClient): Promise<ApiRun> {
  const { engine, context } = subject
  const { data } = await send(engine, {
    what: runWords(subject),
    client,
    route: `GET ${RUN}`,
    path: runPath(subject),
    signal: context.signal,
  })
  return runSchema.parse(data)
}

export async function readJobPage(
  subject: Subject,
  page: number,
  etag?: string,
): Promise<
  | { readonly kind: 'same' }
  | { readonly kind: 'changed'; readonly etag?: string; readonly total: number; readonly jobs: ApiJob[] }
> {
  const fresh = await readIfChanged(subject.engine, {
    what: `the jobs of ${runWords(subject)}`,
    client: subject.engine.clients.reads,
    route: `GET ${RUN}/attempts/{attempt_number}/jobs`,
    path: { ...runPath(subject), attempt_number: subject.run.attempt },
    query: { per_page: PAGE, page },
    etag,
    signal: subject.context.signal,
  })
  if (fresh.kind === 'same') return fresh
  const { total_count: total, jobs } = jobsSchema.parse(fresh.data)
  return { kind: 'changed', total, jobs, ...(fresh.etag !== undefined && { etag: fresh.etag }) }
}

/** Whether there is another page behind this one. */
export function hasMore(page: number, total: number): boolean {
  return page < MAX_PAGES && page * PAGE < total
}

export async function readAllJobs(subject: Subject): Promise<ApiJob[]> {
  const all: ApiJob[] = []
  for (let page = 1; ; page += 1) {
    const answer = await readJobPage(subject, page)
    if (answer.kind === 'same') return all
    all.push(...answer.jobs)
    if (answer.jobs.length === 0 || !hasMore(page, answer.total)) return all
  }
}

export async function readPending(
  subject: Subject,
  client: GitHubClient,
  etag?: string,
): Promise<{ kind: 'same' } | { kind: 'changed'; etag?: string; environments: PendingEnvironment[] }> {
  const fresh = await readIfChanged(subject.engine, {
    what: `what ${runWords(subject)} waits for`,
    client,
    route: `GET ${RUN}/pending_deployments`,
    path: runPath(subject),
    etag,
    signal: subject.context.signal,
  })
  if (fresh.kind === 'same') return fresh
  const environments = pendingSchema.parse(fresh.data).map((pending) => {
    const { wait_timer: minutes, wait_timer_started_at: since } = pending
    return {
      id: pending.environment.id,
      name: pending.environment.name,
      mayApprove: pending.current_user_can_approve,
      reviewers: (pending.reviewers ?? []).flatMap(({ reviewer }) => reviewer?.login ?? reviewer?.slug ?? []),
      ...(minutes && since && { opensAt: since + minutes * 60_000 }),
    }
  })
  return { kind: 'changed', environments, ...(fresh.etag !== undefined && { etag: fresh.etag }) }
}

export async function readReviews(
  subject: Subject,
  client: GitHubClient,
  etag?: string,
): Promise<{ kind: 'same' } | { kind: 'changed'; etag?: string; reviews: ApiReview[] }> {
  const fresh = await readIfChanged(subject.engine, {
    what: `the reviews of ${runWords(subject)}`,
    client,
    route: `GET ${RUN}/approvals`,
    path: runPath(subject),
    etag,
    signal: subject.context.signal,
  })
  if (fresh.kind === 'same') return fresh
  const reviews = reviewsSchema.parse(fresh.data)
  return { kind: 'changed', reviews, ...(fresh.etag !== undefined && { etag: fresh.etag }) }
}

/** The first page of the artifacts of all attempts, and all of the one name where there are more. */
export async function readArtifacts(subject: Subject, name: string | false): Promise<ApiArtifact[]> {
  const page = async (query: { readonly name?: string }) => {
    const { data } = await send(subject.engine, {
      what: `the artifacts of ${runWords(subject)}`,
      client: subject.engine.clients.reads,
      route: `GET ${RUN}/artifacts`,
      path: runPath(subject),
      query: { ...query, per_page: PAGE },
      signal: subject.context.signal,
    })
    return artifactsSchema.parse(data)
  }
  const { total_count: total, artifacts } = await page({})
  if (name === false || total <= artifacts.length) return artifacts
  const named = (await page({ name })).artifacts
  return [...named, ...artifacts.filter(({ id }) => !named.some((each) => each.id === id))]
}
