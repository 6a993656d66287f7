import { randomBytes, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { executionArn, roleArn, stateMachineArn } from './arns.js'
import { type CallReport, callLog } from './calls.js'
import { type ExecutionView, executionViews } from './control.js'
import type { Ending } from './execution.js'
import { type Faults, faultScript } from './faults.js'
import { listen } from './listen.js'
import type { EmulatorState } from './state.js'
import { createStateMachine, type StateMachineType } from './state-machines.js'
import { type OpenTask, taskTokens } from './task-tokens.js'
import type { TaskFunction, TaskFunctions } from './tasks.js'

/** A definition in Amazon States Language: an object, its JSON, or the path of a JSON file. */
export type DefinitionSource = object | string

export interface StateMachineSource {
  definition: DefinitionSource
  /** Default STANDARD. */
  type?: StateMachineType
}

export interface StepFunctionsEmulatorOptions {
  /** By name: a definition, the path of one, or one of them with a type. Default none. */
  stateMachines?: Record<string, DefinitionSource | StateMachineSource>
  /** Local functions for Task states, by state name, Resource, or Lambda function name or ARN. Default none. */
  tasks?: TaskFunctions
  /** Stands in for every Task that has no function of its own. Default: such a Task fails, or waits for its token. */
  defaultTask?: TaskFunction
  /** Default 0: a free port from the system. */
  port?: number
  /** Default `us-east-1`. */
  region?: string
  /** Default `000000000000`. */
  accountId?: string
  /** Epoch milliseconds for every time that is shown. Waits and timeouts take real time. Default `Date.now`. */
  now?: () => number
  /** Names of unnamed executions and request ids. Default random UUIDs. */
  newId?: () => string
  /** 0 to below 1, for aliases with several routes. Default `Math.random`. */
  random?: () => number
}

export interface StepFunctionsEmulator {
  /** Give it to an SDK client as `endpoint`, with `disableHostPrefix: true` for StartSyncExecution. */
  readonly url: string
  readonly region: string
  readonly accountId: string
  readonly faults: Faults
  stateMachineArn(name: string): string
  executionArn(stateMachine: string, execution: string): string
  /** What arrived so far, retries included. */
  calls(): CallReport
  resetCalls(): void
  /** Every execution, oldest first, hidden ones included. */
  executions(): ExecutionView[]
  /** Resolves when the execution's current attempt is over. */
  ended(executionArn: string): Promise<Ending>
  /** The tasks that wait for their tokens. */
  openTasks(): OpenTask[]
  /** Ends the server, its connections and every execution. Nothing is kept. */
  close(): Promise<void>
}

/**
 * Starts a Step Functions endpoint on loopback that AWS SDK clients talk to unchanged, whatever their credentials.
 * Throws InvalidDefinition for a definition that it would not run as AWS does.
 */
export async function startStepFunctionsEmulator(
  options: StepFunctionsEmulatorOptions = {},
): Promise<StepFunctionsEmulator> {
  const { region = 'us-east-1', accountId = '000000000000', now = Date.now } = options
  const place = { region, accountId }
  const state: EmulatorState = {
    place,
    now,
    newId: options.newId ?? randomUUID,
    random: options.random ?? Math.random,
    options: { tasks: options.tasks ?? {}, defaultTask: options.defaultTask },
    tokenPlaceholder: `token-${randomUUID()}`,
    tokens: taskTokens(() => randomBytes(48).toString('base64url')),
    stateMachines: new Map(),
    executions: new Map(),
  }
  for (const [name, source] of Object.entries(options.stateMachines ?? {})) {
    const { definition, type = 'STANDARD' } = isTyped(source) ? source : { definition: source }
    createStateMachine(state, { name, type, definition: await textOf(definition), roleArn: roleArn(place) })
  }
  const faults = faultScript((arn) => {
    state.executions.get(arn)?.discard()
    state.executions.delete(arn)
  })
  const calls = callLog(now)
  const closing = new AbortController()
  const server = await listen({ state, faults, calls, closing: closing.signal }, options.port ?? 0)
  return {
    url: server.url,
    region,
    accountId,
    faults,
    stateMachineArn: (name) => stateMachineArn(place, name),
    executionArn: (machine, name) => executionArn(place, machine, name),
    calls: calls.report,
    resetCalls: calls.reset,
    executions: () => executionViews(state),
    ended(arn) {
      const execution = state.executions.get(arn)
      if (!execution) throw new Error(`No execution ${arn} here; take the ARN that StartExecution returned.`)
      return execution.ended()
    },
    openTasks: state.tokens.openTasks,
    async close() {
      closing.abort()
      for (const execution of state.executions.values()) execution.discard()
      await server.close()
    },
  }
}

function isTyped(source: DefinitionSource | StateMachineSource): source is StateMachineSource {
  return typeof source === 'object' && 'definition' in source
}

async function textOf(definition: DefinitionSource): Promise<string> {
  if (typeof definition !== 'string') return JSON.stringify(definition)
  return definition.trimStart().startsWith('{') ? definition : readFile(definition, 'utf8')
}
