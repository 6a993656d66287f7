import { randomUUID } from 'node:crypto'
import { type CallReport, callLog } from './calls.js'
import { executionViews, type OpenCallback, openCallbacks } from './control.js'
import { type Faults, faultScript } from './faults.js'
import { listen } from './listen.js'
import { workflowName } from './names.js'
import type { Resource } from './resources.js'
import type { SimulatedWorkflow } from './simulated.js'
import { type EmulatorState, startExecution } from './state.js'

export interface GoogleWorkflowsEmulatorOptions {
  /** By name. */
  readonly workflows?: Readonly<Record<string, SimulatedWorkflow>>
  /** Default 0: a free port from the system. */
  readonly port?: number
  /** Default `local`. */
  readonly project?: string
  /** Default `us-central1`. */
  readonly location?: string
  /** Executions at the same time; those beyond are QUEUED. Default 10,000, as at Google. */
  readonly maxConcurrent?: number
  /** Epoch milliseconds for every time that is shown. Steps take real time. Default `Date.now`. */
  readonly now?: () => number
  /** Names of executions. Default random UUIDs. */
  readonly newId?: () => string
}

export interface GoogleWorkflowsEmulator {
  /** REST, callbacks and control routes. gRPC is at the same host and port. */
  readonly url: string
  readonly port: number
  readonly project: string
  readonly location: string
  readonly faults: Faults
  /** The full name of a workflow. */
  workflowName(workflow: string): string
  /** Deploys a workflow, or another revision of it. */
  deploy(workflow: string, definition: SimulatedWorkflow): void
  /** Starts an execution as somebody else would, and gives its full name. */
  execute(workflow: string, argument?: unknown): string
  /** What arrived so far. */
  calls(): CallReport
  resetCalls(): void
  /** Every execution, oldest first, as GetExecution shows it. */
  executions(): Resource[]
  /** Resolves when the execution is over. */
  ended(execution: string): Promise<void>
  /** The callbacks of executions that go on. */
  callbacks(): OpenCallback[]
  /** Ends the server, its connections and every execution. Nothing is kept. */
  close(): Promise<void>
}

/**
 * Starts an endpoint on loopback that speaks the Workflow Executions API on gRPC (Google's own protos) and on REST, and as
 * much of the Workflows API as discovery needs. Nobody's credentials are looked at.
 */
export async function startGoogleWorkflowsEmulator(
  options: GoogleWorkflowsEmulatorOptions = {},
): Promise<GoogleWorkflowsEmulator> {
  const { project = 'local', location = 'us-central1', now = Date.now } = options
  const place = { project, location }
  const state: EmulatorState = {
    place,
    now,
    newId: options.newId ?? randomUUID,
    maxConcurrent: options.maxConcurrent ?? 10_000,
    workflows: new Map(),
    executions: new Map(),
    hidden: new Map(),
    url: '',
  }
  const deploy = (name: string, definition: SimulatedWorkflow) =>
    void state.workflows.set(workflowName(place, name), definition)
  for (const [name, definition] of Object.entries(options.workflows ?? {})) deploy(name, definition)
  const faults = faultScript((name) => {
    state.executions.get(name)?.discard()
    state.executions.delete(name)
  })
  const calls = callLog(now)
  const closing = new AbortController()
  const server = await listen({ state, faults, calls, closing: closing.signal }, options.port ?? 0)
  state.url = `http://127.0.0.1:${server.port}`
  return {
    url: state.url,
    port: server.port,
    project,
    location,
    faults,
    workflowName: (workflow) => workflowName(place, workflow),
    deploy,
    execute(workflow, argument) {
      const given = argument === undefined ? {} : { argument: JSON.stringify(argument) }
      return startExecution(state, workflowName(place, workflow), given).name
    },
    calls: calls.report,
    resetCalls: calls.reset,
    executions: () => executionViews(state),
    ended(name) {
      const execution = state.executions.get(name)
      if (!execution)
        throw new Error(`No execution ${name} here; take the name that CreateExecution returned.`)
      return execution.ended()
    },
    callbacks: () => openCallbacks(state),
    async close() {
      closing.abort()
      for (const execution of state.executions.values()) execution.discard()
      await server.close()
    },
  }
}
