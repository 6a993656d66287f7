import { type Backend, type Log, RunbridgeError } from '@runbridge/core'
import type { Tool } from '@runbridge/server'
import {
  type CloseableStepFunctionsClients,
  checkAccess,
  createStepFunctionsClients,
  type Feature,
  parseStateMachineArn,
  type StepFunctionsClientsOptions,
  type StepFunctionsWorkflow,
  stepFunctions,
} from '@runbridge/step-functions'
import type { Config, ToolConfig } from '../config/schema.js'
import { type Bound, manner, type OpenEngine } from './bound.js'

interface Region {
  readonly clients: CloseableStepFunctionsClients
  readonly backend: Backend<StepFunctionsWorkflow>
}

export interface StepFunctionsEngineOptions {
  /** Default: the standard AWS chain. */
  readonly awsCredentials?: StepFunctionsClientsOptions['credentials']
  readonly log?: Log
}

/** One client a region, which the ARN names. */
export function openStepFunctions(
  config: Config['engines']['stepFunctions'],
  { awsCredentials: credentials, log }: StepFunctionsEngineOptions,
): OpenEngine<NonNullable<ToolConfig['stepFunctions']>, ToolConfig> {
  const { graceMs, readsPerSecond, ...settings } = config
  const regions = new Map<string, Region>()

  function regionOf(stateMachineArn: string): Region {
    const { region } = parseStateMachineArn(stateMachineArn)
    const present = regions.get(region)
    if (present) return present
    const clients = createStepFunctionsClients({ ...settings, region, credentials })
    const warn = (message: string) => log?.warn({ engine: 'step-functions', region }, message)
    const backend = stepFunctions({ clients, visibilityMs: graceMs, readsPerSecond, warn })
    regions.set(region, { clients, backend })
    return { clients, backend }
  }

  return {
    bind({ stateMachineArn: id, gates }, tool): Bound {
      const { backend, clients } = regionOf(id)
      return {
        backend,
        workflow: { id, ...(gates && { gates }) } as StepFunctionsWorkflow,
        describe: described,
        async access(outcome, signal) {
          const reports = await checkAccess(clients, id, featuresOf(tool, outcome), { signal })
          return reports.map(({ action, ...report }) => ({ permission: action, ...report }))
        },
      }
    },
    close() {
      for (const { clients } of regions.values()) clients.close()
    },
  }
}

function described(tool: Tool): string {
  if (tool.capabilities.execution === 'call') return 'Express: answers within the call'
  return `Standard: ${manner(tool)}`
}

function featuresOf(config: ToolConfig, outcome: Tool | RunbridgeError): Feature[] {
  if (!(outcome instanceof RunbridgeError) && outcome.capabilities.execution === 'call') return ['sync']
  return [
    ...(config.attach ? [] : (['start'] as const)),
    'follow',
    ...(config.attach && !config.cancelAttached ? [] : (['cancel'] as const)),
    'redrive',
    ...(config.progress ? (['progress', 'map_runs'] as const) : []),
    ...(config.humanInput === 'off' ? [] : (['gates'] as const)),
  ]
}
