import type { Backend, CallContext } from '@runbridge/core'
import { answerGate } from './answer.js'
import { attach, REFERENCES } from './attach.js'
import { cancel } from './cancel.js'
import { type AccessReport, checkAccess } from './check-access.js'
import type { GitHubClients } from './clients.js'
import { describe, discover } from './describe.js'
import { createEngine } from './engine.js'
import { find } from './find.js'
import { log } from './log.js'
import type { Feature } from './permissions.js'
import { read } from './read.js'
import { start } from './start.js'
import type { GitHubActionsWorkflow } from './workflow.js'

export interface GitHubActionsOptions {
  /** From `createGitHubClients`, or one's own. */
  readonly clients: GitHubClients
  /** How long after a dispatch its run may still be invisible, in ms; GitHub documents no bound. Default 60,000. */
  readonly visibilityMs?: number | undefined
  /**
   * Looks at runs a second that one process makes. A look is two requests, and GitHub's secondary limit is 900 reads a
   * minute. Default 5.
   */
  readonly readsPerSecond?: number | undefined
  /** Told what an operator should know, such as a status that was never seen. Default: nobody. */
  readonly warn?: ((message: string) => void) | undefined
  /** ms since the epoch, to know when a limit is over. Default: the system's clock. */
  readonly now?: (() => number) | undefined
}

export interface GitHubActionsBackend extends Backend<GitHubActionsWorkflow> {
  /** Which of the permissions that the features need are there, asked by calls that can have no effect. */
  checkAccess(
    workflow: GitHubActionsWorkflow,
    features: readonly Feature[],
    context: CallContext,
  ): Promise<AccessReport[]>
}

const DAY_MS = 86_400_000

/** GitHub Actions, on github.com and GitHub Enterprise Server. Needs the permissions that `PERMISSIONS` lists. */
export function githubActions(options: GitHubActionsOptions): GitHubActionsBackend {
  const {
    clients,
    visibilityMs = 60_000,
    warn = () => undefined,
    now = Date.now,
    readsPerSecond = 5,
  } = options
  const engine = createEngine({ clients, warn, now })
  return {
    name: 'github-actions',
    visibilityMs,
    // https://docs.github.com/en/actions/reference/limits: a run lives 35 days, waiting included.
    maxRunMs: 35 * DAY_MS,
    references: REFERENCES,
    readQuota: () => ({ name: `GitHub at ${clients.host}`, perSecond: readsPerSecond }),
    describe: (workflow, context) => describe(engine, workflow, context),
    start: (workflow, runKey, input, context) => start(engine, workflow, runKey, input, context),
    find: (workflow, runKey, context) => find(engine, workflow, runKey, context),
    get: (workflow, run, context) => read(engine, workflow, run, context),
    cancel: (workflow, run, _reason, context) => cancel(engine, workflow, run, context),
    answer: (workflow, run, gate, response, context) =>
      answerGate(engine, workflow, run, gate, response, context),
    attach: (workflow, reference, context) => attach(engine, workflow, reference, context),
    log: (workflow, run, range, context) => log(engine, workflow, run, range, context),
    discover: (filter, context) => discover(engine, filter, context),
    checkAccess: (workflow, features, context) => checkAccess(engine, workflow, features, context),
  }
}
