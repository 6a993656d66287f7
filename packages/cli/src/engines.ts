import {
  type CloseableStepFunctionsClients,
  createStepFunctionsClients,
  parseStateMachineArn,
  type StepFunctionsBackend,
  type StepFunctionsClientsOptions,
  stepFunctions,
} from '@runbridge/step-functions'
import type { Config } from './config/schema.js'

export interface EngineOptions {
  /** Default: the standard AWS chain. */
  readonly awsCredentials?: StepFunctionsClientsOptions['credentials']
}

export interface Engines {
  /** The backend for the region of a state machine. Throws `misconfigured` for what is no ARN of one. */
  stepFunctions(stateMachineArn: string): StepFunctionsBackend
  /** Closes every connection. */
  close(): void
}

/** The backends, made when a tool first needs one: one for each region. */
export function openEngines(config: Config['engines'], options: EngineOptions): Engines {
  const { graceMs, ...settings } = config.stepFunctions
  const opened = new Map<string, { clients: CloseableStepFunctionsClients; backend: StepFunctionsBackend }>()
  return {
    stepFunctions(stateMachineArn) {
      const { region } = parseStateMachineArn(stateMachineArn)
      const present = opened.get(region)
      if (present) return present.backend
      const clients = createStepFunctionsClients({ ...settings, region, credentials: options.awsCredentials })
      const backend = stepFunctions({ clients, visibilityMs: graceMs })
      opened.set(region, { clients, backend })
      return backend
    },
    close() {
      for (const { clients } of opened.values()) clients.close()
    },
  }
}
