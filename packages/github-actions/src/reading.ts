import type { GetContext, ReportedState, Snapshot } from '@runbridge/core'
import { engineError, limitedForMs, statusOf } from './errors.js'
import type { RunMarks, RunView } from './marks.js'
import { runWords, type Subject } from './run-reads.js'
import { nativeState } from './states.js'
import type { GitHubActionsWorkflow } from './workflow.js'

/** One look at a run. */
export interface Reading extends Subject {
  readonly workflow: GitHubActionsWorkflow
  readonly context: GetContext
  readonly before: RunMarks
}

export function snapshotOf(view: RunView, state: ReportedState): Snapshot {
  return {
    state,
    nativeState: nativeState({ status: view.status, conclusion: view.conclusion }),
    gates: [],
    links: [{ title: 'Run on GitHub', url: view.url }],
    ...(view.startedAt !== undefined && { startedAt: view.startedAt }),
  }
}

/** What only adds to a snapshot is left out when it is denied or gone; everything else passes, so all is read again. */
export function passing<T>(reading: Reading, thrown: unknown, instead: T): T {
  const { engine } = reading
  const status = statusOf(thrown)
  if (limitedForMs(thrown, engine.now()) !== undefined || (status !== 403 && status !== 404)) throw thrown
  const asked = { what: `more about ${runWords(reading)}`, permission: 'Actions: read' }
  engine.warn(engineError(thrown, asked, engine.now()).message)
  return instead
}
