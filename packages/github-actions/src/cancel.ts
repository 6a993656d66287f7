import type { CancelContext, CancelResult, RunRef } from '@runbridge/core'
import { engineError, statusOf } from './errors.js'
import { type Engine, send } from './request.js'
import { readRun, runPath, runWords, type Subject } from './run-reads.js'
import { DEFAULT_FORCE_CANCEL_MS, type GitHubActionsWorkflow, parseWorkflowId } from './workflow.js'

/**
 * Cancels, and later by force. GitHub cancels the present attempt, so ours is looked at first: a re-run that somebody
 * else began is not ours to stop.
 */
export async function cancel(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  run: RunRef,
  context: CancelContext,
): Promise<CancelResult> {
  const forced = (context.escalation ?? 0) > 0
  const asked = { what: `to stop run ${run.id} of ${workflow.id}`, permission: 'Actions: write' }
  try {
    const subject: Subject = { engine, name: parseWorkflowId(workflow.id), run, context }
    const client = engine.clients.writes
    const present = await readRun(subject, client)
    const later = (present.run_attempt ?? run.attempt) > run.attempt
    const over = present.status === 'completed' && present.conclusion !== 'action_required'
    if (later || over) return { kind: 'too_late' }
    await send(engine, {
      what: `to stop ${runWords(subject)}`,
      client,
      route: `POST /repos/{owner}/{repo}/actions/runs/{run_id}/${forced ? 'force-cancel' : 'cancel'}`,
      path: runPath(subject),
      signal: context.signal,
    })
    const after = workflow.forceCancelAfterMs ?? DEFAULT_FORCE_CANCEL_MS
    return forced || after === false ? { kind: 'sent' } : { kind: 'sent', escalateAfterMs: after }
  } catch (thrown) {
    // https://docs.github.com/en/rest/actions/workflow-runs#cancel-a-workflow-run
    if (statusOf(thrown) === 409) return { kind: 'too_late' }
    return { kind: 'failed', error: engineError(thrown, asked, engine.now()) }
  }
}
