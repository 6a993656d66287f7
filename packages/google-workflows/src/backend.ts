import { type Backend, RunbridgeError } from '@runbridge/core'
import { answerGate, type LostAnswers } from './answer.js'
import { attach, REFERENCES } from './attach.js'
import type { GoogleWorkflowsClients } from './clients.js'
import { describe, discover } from './describe.js'
import { bound, type Engine } from './engine.js'
import { read } from './read.js'
import { parseWorkflowName } from './resource-name.js'
import { find, start } from './start.js'
import { stop } from './stop.js'
import type { GoogleWorkflow } from './workflow.js'

export interface GoogleWorkflowsOptions {
  /** From `createGoogleWorkflowsClients`, or one's own. */
  readonly clients: GoogleWorkflowsClients
  /**
   * How long after a start Google may still leave the execution out of its lists, in ms; how long that is, is not
   * documented. Default 60,000.
   */
  readonly visibilityMs?: number | undefined
  /** Looks at executions a second that this process makes in one project. Default 50, half of what Google lets a project read. */
  readonly readsPerSecond?: number | undefined
  /** Told what an operator should know, such as a state that was never seen. Default: nobody. */
  readonly warn?: ((message: string) => void) | undefined
}

const DAY_MS = 86_400_000

/** https://docs.cloud.google.com/workflows/quotas: 6,000 reads of executions a minute; half is left to whoever else reads. */
const READS_PER_SECOND = 50

/** Google Cloud Workflows. Needs the permissions that `PERMISSIONS` lists. */
export function googleWorkflows(options: GoogleWorkflowsOptions): Backend<GoogleWorkflow> {
  const {
    clients,
    visibilityMs = 60_000,
    readsPerSecond: perSecond = READS_PER_SECOND,
    warn = () => undefined,
  } = options
  const engine: Engine = { clients, warn }
  const lost: LostAnswers = new Set()
  return {
    name: 'google-workflows',
    visibilityMs,
    // An execution lives a year at most (https://docs.cloud.google.com/workflows/quotas); a day for clocks that differ.
    maxRunMs: 366 * DAY_MS,
    readQuota: ({ id }) => ({ name: `google-workflows ${parseWorkflowName(id).project}`, perSecond }),
    describe: (workflow, context) => describe(engine, workflow, context),
    start: (workflow, runKey, input, context) => start(engine, workflow, runKey, input, context),
    find: (workflow, runKey, context) => find(engine, workflow, runKey, context),
    get: (workflow, run, context) => read(engine, workflow, run, context),
    cancel: (workflow, run, _reason, context) => stop(engine, workflow, run, context),
    async answer(workflow, run, gate, response, context) {
      const name = bound(workflow)
      if (name instanceof RunbridgeError) return { kind: 'failed', error: name }
      return answerGate({ engine, workflow, run, gate, response, context, lost })
    },
    attach: (workflow, reference, context) => attach(engine, workflow, reference, context),
    references: REFERENCES,
    discover: (filter, context) => discover(engine, filter, context),
  }
}
