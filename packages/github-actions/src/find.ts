import { type FindContext, type FindResult, RunbridgeError } from '@runbridge/core'
import { type ApiRun, runsSchema } from './api.js'
import type { Engine } from './engine.js'
import { unreadable } from './errors.js'
import { remember } from './remember.js'
import { type Fresh, readIfChanged } from './request.js'
import {
  DEFAULT_RUN_KEY_INPUT,
  type GitHubActionsWorkflow,
  parseWorkflowId,
  type WorkflowName,
} from './workflow.js'

const PAGE = 100
/** GitHub lists no more than 1,000 runs. */
const MAX_PAGES = 10
/** By how much GitHub's clock may be behind ours, in ms. */
const CLOCK_ALLOWANCE_MS = 60_000
const MOST_LOOKS = 100

/** Looks for the run whose title shows the whole key, among the runs of the workflow. Times alone tell nothing. */
export async function find(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  runKey: string,
  context: FindContext,
): Promise<FindResult> {
  const asked = { what: `the runs of ${workflow.id}`, permission: 'Actions: read' }
  try {
    const name = parseWorkflowId(workflow.id)
    if (name.file === '*') throw new RunbridgeError('misconfigured', `${workflow.id} names no workflow.`)
    return await look(engine, workflow, name, runKey, context)
  } catch (thrown) {
    return unreadable(thrown, asked, engine.now())
  }
}

async function look(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  name: WorkflowName,
  runKey: string,
  context: FindContext,
): Promise<FindResult> {
  const key = `${workflow.id} ${runKey}`
  const before = engine.looks.get(key)
  const first = await page(engine, workflow, name, 1, context, before?.etag)
  if (first.kind === 'same' && before) return before.result
  const found: ApiRun[] = []
  for (let number = 1, answer: Fresh = first; answer.kind === 'changed'; number += 1) {
    const { workflow_runs: runs, total_count: total } = runsSchema.parse(answer.data)
    found.push(...runs.filter((run) => showsKey(run.display_title ?? '', runKey)))
    if (number === MAX_PAGES || runs.length < PAGE || number * PAGE >= total) break
    answer = await page(engine, workflow, name, number + 1, context)
  }
  const result = resultOf(found, engine, workflow)
  if (first.kind === 'changed' && first.etag !== undefined) {
    remember(engine.looks, key, { etag: first.etag, result }, MOST_LOOKS)
  }
  return result
}

function page(
  engine: Engine,
  { id, repositoryDispatch }: GitHubActionsWorkflow,
  { owner, repo, file }: WorkflowName,
  number: number,
  { signal, since }: FindContext,
  etag?: string,
): Promise<Fresh> {
  return readIfChanged(engine, {
    what: `the runs of ${id}`,
    client: engine.clients.reads,
    route: 'GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs',
    path: { owner, repo, workflow_id: file },
    // Not by branch: a ref may be a tag or written in full, and a run that the list left out would be lost.
    query: {
      event: repositoryDispatch === undefined ? 'workflow_dispatch' : 'repository_dispatch',
      ...(since !== undefined && { created: `>=${wholeSeconds(since - CLOCK_ALLOWANCE_MS)}` }),
      exclude_pull_requests: true,
      per_page: PAGE,
      page: number,
    },
    etag,
    signal,
  })
}

/** https://docs.github.com/en/search-github/getting-started-with-searching-on-github/understanding-the-search-syntax#query-for-dates knows no fractions. */
function wholeSeconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** The whole key, not a part of a longer one. */
function showsKey(title: string, runKey: string): boolean {
  for (let at = title.indexOf(runKey); at >= 0; at = title.indexOf(runKey, at + 1)) {
    const around = `${title[at - 1] ?? ' '}${title[at + runKey.length] ?? ' '}`
    if (!/[A-Za-z0-9_-]/.test(around)) return true
  }
  return false
}

/** What was started under the key is the first attempt; a re-run is another run. */
function resultOf(found: readonly ApiRun[], engine: Engine, workflow: GitHubActionsWorkflow): FindResult {
  const runs = [...new Set(found.map(({ id }) => id))].map((id) => ({ id, attempt: 1 }))
  const [first, second] = runs
  if (second) return { kind: 'ambiguous', runs }
  if (first) return { kind: 'found', run: first }
  return engine.findable.get(workflow.id) === false
    ? { kind: 'absent', hint: howToFind(workflow) }
    : { kind: 'absent' }
}

/** How to give a workflow a name by which its runs are found. */
function howToFind(workflow: GitHubActionsWorkflow): string {
  const { runKeyInput = DEFAULT_RUN_KEY_INPUT, repositoryDispatch, id } = workflow
  const source = repositoryDispatch === undefined ? 'inputs' : 'github.event.client_payload'
  const input = repositoryDispatch === undefined ? `an input \`${runKeyInput}\` and ` : ''
  return `To let runs of ${id} be found, give the workflow ${input}a \`run-name\` that holds \`\${{ ${source}.${runKeyInput} }}\`.`
}
