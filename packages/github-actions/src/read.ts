import {
  type GetContext,
  type GetResult,
  isTerminal,
  type Marks,
  type ReportedState,
  type RunRef,
  type Snapshot,
} from '@runbridge/core'
import { runSchema } from './api.js'
import { ended } from './ended.js'
import type { Engine } from './engine.js'
import { statusOf, unreadable } from './errors.js'
import { environmentGate, forkGate } from './gates.js'
import { type JobPage, parseMarks, type RunMarks, type RunView } from './marks.js'
import { progressOf, summarise } from './progress.js'
import { passing, type Reading, snapshotOf } from './reading.js'
import { send } from './request.js'
import { hasMore, readAttempt, readJobPage, readPending, readReviews, runWords } from './run-reads.js'
import { nativeState, stateOf } from './states.js'
import { type GitHubActionsWorkflow, parseWorkflowId } from './workflow.js'

/** One look at our attempt of a run: one conditional request, and one more for each of what is asked for beside it. */
export async function read(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  run: RunRef,
  context: GetContext,
): Promise<GetResult> {
  const asked = { what: `run ${run.id} of ${workflow.id}`, permission: 'Actions: read' }
  let seen: Seen
  let reading: Reading
  try {
    const name = parseWorkflowId(workflow.id)
    reading = { engine, workflow, run, context, name, before: parseMarks(context.marks) }
    seen = await readView(reading)
  } catch (thrown) {
    return statusOf(thrown) === 404
      ? denied(engine, workflow, context)
      : unreadable(thrown, asked, engine.now())
  }
  try {
    const state = stateOf({ status: seen.view.status, conclusion: seen.view.conclusion }, engine.warn)
    if (isTerminal(state)) return { kind: 'snapshot', snapshot: await ended(reading, seen.view, state) }
    return await goingOn(reading, seen, state)
  } catch (thrown) {
    return unreadable(thrown, asked, engine.now())
  }
}

interface Seen {
  readonly view: RunView
  readonly etag: string | undefined
}

async function readView(reading: Reading): Promise<Seen> {
  const known = reading.before.run
  const fresh = await readAttempt(reading, known?.etag)
  if (fresh.kind === 'same' && known) return { view: known.view, etag: known.etag }
  if (fresh.kind === 'same') throw new Error('304 without an ETag')
  const { status, conclusion, html_url: url, ...run } = runSchema.parse(fresh.data)
  const startedAt = run.run_started_at ?? run.created_at
  const view: RunView = {
    status: status ?? 'unknown',
    ...(conclusion != null && { conclusion }),
    url,
    ...(startedAt != null && { startedAt }),
    ...(run.updated_at != null && { updatedAt: run.updated_at }),
  }
  return { view, etag: fresh.etag }
}

/**
 * GitHub denies the run. That counts only while it shows the runs of the repository: without the permission, or in a
 * private repository that the token sees no more, everything seems not to exist.
 */
async function denied(
  engine: Engine,
  { id }: GitHubActionsWorkflow,
  { signal }: GetContext,
): Promise<GetResult> {
  const asked = { what: `the runs of the repository of ${id}`, permission: 'Actions: read' }
  try {
    const { owner, repo } = parseWorkflowId(id)
    await send(engine, {
      ...asked,
      client: engine.clients.reads,
      route: 'GET /repos/{owner}/{repo}/actions/runs',
      path: { owner, repo },
      query: { per_page: 1 },
      signal,
    })
    return { kind: 'absent' }
  } catch (thrown) {
    return unreadable(thrown, asked, engine.now())
  }
}

async function goingOn(reading: Reading, { view, etag }: Seen, state: ReportedState): Promise<GetResult> {
  const { context, before, engine } = reading
  const marks: RunMarks = { ...(etag !== undefined && { run: { etag, view } }) }
  const queued = state === 'queued'
  const looks = (context.progress || context.gates) && !queued && view.status !== 'completed'
  if (looks) marks.jobs = await readJobs(reading)
  const held = view.status === 'waiting' || marks.jobs?.some(({ waiting }) => waiting)
  const reviewer = context.gates ? engine.clients.reviewer : undefined
  if (held && looks) {
    const waits = readWaiting(reading, reviewer !== undefined)
    // Who is to be asked must know of every question; who is only told can do without.
    Object.assign(marks, await (reviewer ? waits : waits.catch((thrown) => passing(reading, thrown, {}))))
  }
  const environments = marks.pending?.environments ?? []
  const gates = reviewer
    ? environments
        .filter(({ mayApprove }) => mayApprove)
        .map((each) => environmentGate(each, marks.reviews?.counts[each.id] ?? 0, runWords(reading)))
    : []
  if (reviewer && view.conclusion === 'action_required') gates.push(forkGate(runWords(reading)))
  const progress = context.progress ? (progressOf(marks.jobs ?? [], environments) ?? words(view)) : undefined
  const snapshot: Snapshot = {
    ...snapshotOf(view, gates.length > 0 ? 'waiting' : state),
    gates,
    ...(progress && { progress }),
  }
  const kept = { ...before, ...marks } satisfies RunMarks
  return { kind: 'snapshot', snapshot, marks: kept as unknown as Marks }
}

const WORDS: Readonly<Record<string, string>> = {
  requested: 'was requested',
  queued: 'waits for a runner',
  pending: 'waits for its concurrency group',
  action_required: 'needs approval on GitHub to run',
}

function words(view: RunView): Snapshot['progress'] {
  const native = nativeState({ status: view.status, conclusion: view.conclusion })
  return Object.hasOwn(WORDS, native) ? { message: WORDS[native] ?? native } : undefined
}

/** Steps move while the run does not, so jobs are asked for too, each page only for what changed. */
async function readJobs(reading: Reading): Promise<JobPage[]> {
  const { before } = reading
  const pages: JobPage[] = []
  try {
    for (let number = 1; ; number += 1) {
      const known = before.jobs?.[number - 1]
      const answer = await readJobPage(reading, number, known?.etag)
      if (answer.kind === 'same' && !known) return pages
      const page = answer.kind === 'same' ? known : summarise(answer.jobs, answer.total, answer.etag)
      if (!page) return pages
      pages.push(page)
      if (page.jobs === 0 || !hasMore(number, page.total)) return pages
    }
  } catch (thrown) {
    return passing(reading, thrown, pages)
  }
}

/** The environments that wait, and how often each was reviewed before. */
async function readWaiting(reading: Reading, asks: boolean): Promise<Pick<RunMarks, 'pending' | 'reviews'>> {
  const { engine, before } = reading
  const client = asks ? (engine.clients.reviewer ?? engine.clients.reads) : engine.clients.reads
  const pending = await readPending(reading, client, before.pending?.etag)
  const environments = pending.kind === 'same' ? (before.pending?.environments ?? []) : pending.environments
  const etag = pending.kind === 'same' ? before.pending?.etag : pending.etag
  const waits = { pending: { etag: etag ?? '', environments } }
  if (!asks) return waits
  const answer = await readReviews(reading, client, before.reviews?.etag)
  if (answer.kind === 'same') return { ...waits, ...(before.reviews && { reviews: before.reviews }) }
  const counts: Record<string, number> = {}
  for (const { id } of answer.reviews.flatMap((review) => review.environments)) {
    counts[id] = (counts[id] ?? 0) + 1
  }
  return { ...waits, reviews: { etag: answer.etag ?? '', counts } }
}
