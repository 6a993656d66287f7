import type { Backend, Log } from '@runbridge/core'
import {
  type CloseableStepFunctionsClients,
  createStepFunctionsClients,
  parseStateMachineArn,
  type StepFunctionsClientsOptions,
  type StepFunctionsWorkflow,
  stepFunctions,
} from '@runbridge/step-functions'
import type { Config } from './config/schema.js'

export interface EngineOptions {
  /** Default: the standard AWS chain. */
  readonly awsCredentials?: StepFunctionsClientsOptions['credentials']
  /** Told what the engines do that nobody expects. Default: silent. */
  readonly log?: Log
}

interface StepFunctionsEngine {
  readonly clients: CloseableStepFunctionsClients
  readonly backend: Backend<StepFunctionsWorkflow>
}

export interface Engines {
  /** The engine in the region of a state machine. Throws `misconfigured` for what is no ARN of one. */
  stepFunctions(stateMachineArn: string): StepFunctionsEngine
  /** Closes every connection. */
  close(): void
}

/** The engines, opened when a tool first needs one: one for each region. */
export function openEngines(config: Config['engines'], options: EngineOptions): Engines {
  const { graceMs, readsPerSecond, ...settings } = config.stepFunctions
  const { awsCredentials: credentials, log } = options
  const opened = new Map<string, StepFunctionsEngine>()
  return {
    stepFunctions(stateMachineArn) {
      const { region } = parseStateMachineArn(stateMachineArn)
      const present = opened.get(region)
      if (present) return present
      const clients = createStepFunctionsClients({ ...settings, region, credentials })
      const warn = (message: string) => log?.warn({ engine: 'step-functions', region }, message)
      const engine = {
        clients,
        backend: stepFunctions({ clients, visibilityMs: graceMs, readsPerSecond, warn }),
      }
      opened.set(region, engine)
      return engine
    },
    close() {
      for (const { clients } of opened.values()) clients.close()
    },
  }
}
