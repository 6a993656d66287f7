import {
  type AnswerResult,
  type CallContext,
  type Gate,
  type GateResponse,
  RunbridgeError,
  type RunRef,
} from '@runbridge/core'
import type { ApiReview } from './api.js'
import type { GitHubClient } from './clients.js'
import type { Engine } from './engine.js'
import { engineError, statusOf } from './errors.js'
import { FORK_GATE, parseGateId } from './gates.js'
import { send } from './request.js'
import { readPending, readReviews, readRun, runPath, runWords, type Subject } from './run-reads.js'
import { type GitHubActionsWorkflow, parseWorkflowId } from './workflow.js'

interface Answering extends Subject {
  readonly reviewer: GitHubClient
  readonly response: GateResponse
}

/** Delivers an answer with the reviewer's own token. */
export async function answerGate(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  run: RunRef,
  gate: Gate,
  response: GateResponse,
  context: CallContext,
): Promise<AnswerResult> {
  const { reviewer } = engine.clients
  if (!reviewer) {
    return failed('misconfigured', "Reviews need a reviewer's own token; configure one for the engine.")
  }
  try {
    const name = parseWorkflowId(workflow.id)
    const answering: Answering = { engine, name, run, context, reviewer, response }
    if (gate.id === FORK_GATE) return await approveFork(answering)
    const asked = parseGateId(gate.id)
    if (!asked) return failed('invalid_input', `There is no gate ${gate.id} in this run.`)
    return await review(answering, asked)
  } catch (thrown) {
    const asked = { what: `a review of run ${run.id} of ${workflow.id}`, permission: 'Deployments: write' }
    return { kind: 'failed', error: engineError(thrown, asked, engine.now()) }
  }
}

interface Decision {
  readonly state: 'approved' | 'rejected'
  readonly comment: string
}

/** GitHub wants a comment with every review. */
function decisionOf(response: GateResponse): Decision {
  if (response.action === 'decline') return { state: 'rejected', comment: 'Declined through Runbridge.' }
  const { decision, comment } = response.content
  const approved = decision !== 'reject'
  const given = typeof comment === 'string' && comment.trim() !== '' ? comment : undefined
  return {
    state: approved ? 'approved' : 'rejected',
    comment: given ?? `${approved ? 'Approved' : 'Rejected'} through Runbridge.`,
  }
}

/**
 * Looks before and after: GitHub takes a review as long as any job waits for the environment, also for a later one than
 * was asked about; and a review that it no longer takes may be our own that arrived before.
 */
async function review(
  answering: Answering,
  asked: { readonly environment: number; readonly reviews: number },
): Promise<AnswerResult> {
  const { engine, context, reviewer, response, run } = answering
  const decision = decisionOf(response)
  const closed = await judge(answering, asked, decision)
  if (closed) return closed
  const present = await readRun(answering, reviewer)
  if ((present.run_attempt ?? run.attempt) !== run.attempt) return { kind: 'too_late' }
  try {
    await send(engine, {
      what: `a review of ${runWords(answering)}`,
      permission: 'Deployments: write',
      client: reviewer,
      route: 'POST /repos/{owner}/{repo}/actions/runs/{run_id}/pending_deployments',
      path: runPath(answering),
      body: { environment_ids: [asked.environment], ...decision },
      signal: context.signal,
    })
    return { kind: 'delivered' }
  } catch (thrown) {
    if (statusOf(thrown) !== 422) throw thrown
    const after = await judge(answering, asked, decision)
    if (after) return after
    throw thrown
  }
}

/** What became of the gate; undefined while it is open. */
async function judge(
  answering: Answering,
  { environment, reviews: before }: { readonly environment: number; readonly reviews: number },
  decision: Decision,
): Promise<AnswerResult | undefined> {
  const { reviewer } = answering
  const answer = await readReviews(answering, reviewer)
  const all = answer.kind === 'changed' ? answer.reviews : []
  const given = all.filter((each) => each.environments.some(({ id }) => id === environment))
  if (given.length > before) {
    // Newest first. What was given before the question may be in the same words.
    const since = given.slice(0, given.length - before)
    return since.some((each) => isOurs(each, decision)) ? DELIVERED : TOO_LATE
  }
  const pending = await readPending(answering, reviewer)
  const open = pending.kind === 'changed' && pending.environments.some(({ id }) => id === environment)
  return open ? undefined : TOO_LATE
}

const DELIVERED: AnswerResult = { kind: 'delivered' }
const TOO_LATE: AnswerResult = { kind: 'too_late' }

/** GitHub keeps no mark of ours with a review, so it is told by its words. */
function isOurs({ state, comment }: ApiReview, decision: Decision): boolean {
  return state === decision.state && comment === decision.comment
}

async function approveFork(answering: Answering): Promise<AnswerResult> {
  const { engine, context, reviewer, response } = answering
  if (response.action === 'decline') {
    const message =
      'GitHub knows no rejection of a run from a fork: it simply does not run. Cancel the task instead.'
    return failed('unsupported', message)
  }
  const { status, conclusion } = await readRun(answering, reviewer)
  if (status !== 'completed' || conclusion !== 'action_required') return TOO_LATE
  await send(engine, {
    what: `the approval of ${runWords(answering)}`,
    client: reviewer,
    route: 'POST /repos/{owner}/{repo}/actions/runs/{run_id}/approve',
    path: runPath(answering),
    signal: context.signal,
  })
  return DELIVERED
}

function failed(code: RunbridgeError['code'], message: string): AnswerResult {
  return { kind: 'failed', error: new RunbridgeError(code, message) }
}
