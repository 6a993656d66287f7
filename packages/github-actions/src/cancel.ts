import type { CancelContext, CancelResult, RunRef } from '@runbridge/core'
import type { Engine } from './engine.js'
import { engineError, statusOf } from './errors.js'
import { send } from './request.js'
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
    if (await isOver(subject)) return { kind: 'too_late' }
    try {
      await send(engine, {
        what: `to stop ${runWords(subject)}`,
        client: engine.clients.writes,
        route: `POST /repos/{owner}/{repo}/actions/runs/{run_id}/${forced ? 'force-cancel' : 'cancel'}`,
        path: runPath(subject),
        signal: context.signal,
      })
    } catch (thrown) {
      // https://docs.github.com/en/rest/actions/workflow-runs#cancel-a-workflow-run: a conflict, as it is for a run
      // that has ended, and for one that GitHub has not queued yet.
      if (statusOf(thrown) === 409 && (await isOver(subject))) return { kind: 'too_late' }
      throw thrown
    }
    const after = workflow.forceCancelAfterMs ?? DEFAULT_FORCE_CANCEL_MS
    return forced || after === false ? { kind: 'sent' } : { kind: 'sent', escalateAfterMs: after }
  } catch (thrown) {
    return { kind: 'failed', error: engineError(thrown, asked, engine.now()) }
  }
}

async function isOver(subject: Subject): Promise<boolean> {
  const { status, conclusion, run_attempt: attempt } = await readRun(subject, subject.engine.clients.writes)
  const later = (attempt ?? subject.run.attempt) > subject.run.attempt
  return later || (status === 'completed' && conclusion !== 'action_required')
}
