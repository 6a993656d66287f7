import { type Backend, backendByOwner, type Clock, RunbridgeError, systemClock } from '@runbridge/core'
import { answerGate } from './answer.js'
import { attach, REFERENCES } from './attach.js'
import { call } from './call.js'
import type { StepFunctionsClients } from './clients.js'
import { describe, discover } from './describe.js'
import { bound, type Engine } from './engine.js'
import { mapRunBudget } from './map-run-budget.js'
import { readQuota } from './quotas.js'
import { read } from './read.js'
import { find, start } from './start.js'
import { stop } from './stop.js'
import type { StepFunctionsWorkflow } from './workflow.js'

export interface StepFunctionsOptions {
  /** From `createStepFunctionsClients`, or one's own. With `byOwner` each owner is served with its own. */
  readonly clients: StepFunctionsClients
  /**
   * How long after a start AWS may still deny the execution, in ms: describes are eventually consistent.
   * Default 30,000.
   */
  readonly visibilityMs?: number | undefined
  /**
   * Looks at executions a second that this process makes in one account and region. Default: half of what AWS
   * documents there, 7.5 in us-east-1, us-west-2 and eu-west-1 and 5 elsewhere. Counts of Map Runs are read once in
   * two seconds, half of what AWS documents too, and less often by as much as this is less than its default.
   */
  readonly readsPerSecond?: number | undefined
  /** Default: the system's. */
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** Told what an operator should know, such as a status that was never seen. Default: nobody. */
  readonly warn?: ((message: string) => void) | undefined
}

const DAY_MS = 86_400_000

export interface StepFunctionsBackend extends Backend<StepFunctionsWorkflow> {
  /** Closes the clients of owners that it opened; those that it was given stay open. */
  close(): Promise<void>
}

/**
 * AWS Step Functions. Standard state machines run and are followed; Express ones end within one call. Needs the
 * permissions that `PERMISSIONS` lists.
 */
export function stepFunctions(options: StepFunctionsOptions): StepFunctionsBackend {
  const { clients, readsPerSecond, clock = systemClock, warn = () => undefined } = options
  const engine: Engine = { clients, warn, mapRuns: mapRunBudget(clock, readsPerSecond) }
  const own = backendOn(engine, options)
  const { byOwner } = clients
  if (!byOwner) return { ...own, close: async () => undefined }
  return backendByOwner({
    own,
    has: (owner) => byOwner.has(owner),
    open(owner) {
      const theirs = byOwner.open(owner)
      return { backend: backendOn({ ...engine, clients: theirs }, options), close: () => theirs.close() }
    },
    maxOwners: byOwner.maxOwners,
  })
}

/** The quotas are of the account and region of a state machine: its own account is that of every role that may use it. */
function backendOn(
  engine: Engine,
  { visibilityMs = 30_000, readsPerSecond }: StepFunctionsOptions,
): Backend<StepFunctionsWorkflow> {
  const { clients } = engine
  return {
    name: 'step-functions',
    visibilityMs,
    // A Standard execution lives a year at most, and a day is for clocks that differ.
    maxRunMs: 366 * DAY_MS,
    readQuota: ({ id }) => readQuota(id, readsPerSecond),
    describe: (workflow, context) => describe(engine, workflow, context),
    start: (workflow, runKey, input, context) => start(engine, workflow, runKey, input, context),
    find: (workflow, runKey, context) => find(engine, workflow, runKey, context),
    get: (workflow, run, context) => read(engine, workflow, run, context),
    cancel: (workflow, run, reason, context) => stop(engine, workflow, run, reason, context),
    async answer(workflow, run, gate, response, context) {
      const machine = bound(engine, workflow)
      if (machine instanceof RunbridgeError) return { kind: 'failed', error: machine }
      const stateMachineArn = machine.unqualified
      return answerGate({ client: clients.writes, workflow, stateMachineArn, run, gate, response, context })
    },
    call: (workflow, input, context) => call(engine, workflow, input, context),
    attach: (workflow, reference, context) => attach(engine, workflow, reference, context),
    references: REFERENCES,
    discover: (filter, context) => discover(engine, filter, context),
  }
}
