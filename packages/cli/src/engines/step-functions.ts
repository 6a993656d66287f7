import { type Log, RunbridgeError } from '@runbridge/core'
import type { Tool } from '@runbridge/server'
import {
  type CloseableStepFunctionsClients,
  checkAccess,
  createStepFunctionsClients,
  type Feature,
  ownerSession,
  parseStateMachineArn,
  type StepFunctionsBackend,
  type StepFunctionsClients,
  type StepFunctionsClientsOptions,
  type StepFunctionsWorkflow,
  stepFunctions,
} from '@runbridge/step-functions'
import type { Config, ToolConfig } from '../config/schema.js'
import { type Access, type Bound, manner, type OpenEngine } from './bound.js'

interface Region {
  readonly clients: CloseableStepFunctionsClients
  readonly backend: StepFunctionsBackend
}

export interface StepFunctionsEngineOptions {
  /** Default: the standard AWS chain. */
  readonly awsCredentials?: StepFunctionsClientsOptions['credentials']
  readonly log?: Log
}

/** The clients of a region, which the ARN names. */
export function openStepFunctions(
  config: Config['engines']['stepFunctions'],
  { awsCredentials: credentials, log }: StepFunctionsEngineOptions,
): OpenEngine<NonNullable<ToolConfig['stepFunctions']>, ToolConfig> {
  const { graceMs, readsPerSecond, ...settings } = config
  const { roleArn, roles } = settings
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
          const features = featuresOf(tool, outcome)
          const ask = { stateMachineArn: id, signal }
          if (!roles || !clients.byOwner) return access({ ...ask, clients, features, roleArn })
          const reports = await access({ ...ask, clients, features: ['describe'], roleArn })
          for (const [owner, role] of Object.entries(roles)) {
            const theirs = clients.byOwner.open(owner)
            try {
              const found = await access({ ...ask, clients: theirs, features, roleArn: role })
              const as = `${owner} by ${role}, external id ${ownerSession(owner).ExternalId}`
              reports.push(...found.map((report) => ({ ...report, as })))
            } finally {
              theirs.close()
            }
          }
          return reports
        },
      }
    },
    async close() {
      for (const { backend, clients } of regions.values()) {
        await backend.close()
        clients.close()
      }
    },
  }
}

interface Ask {
  readonly clients: StepFunctionsClients
  readonly stateMachineArn: string
  readonly features: readonly Feature[]
  /** What the clients assume. */
  readonly roleArn: string | undefined
  readonly signal: AbortSignal
}

async function access({ clients, stateMachineArn, features, roleArn, signal }: Ask): Promise<Access[]> {
  try {
    const reports = await checkAccess(clients, stateMachineArn, features, { signal })
    return reports.map(({ action, ...report }) => ({ permission: action, ...report }))
  } catch (thrown) {
    if (!(thrown instanceof RunbridgeError) || roleArn === undefined) throw thrown
    const missing = thrown.code === 'denied'
    const why = 'assumes the role: its trust policy has to allow it too'
    const assuming = { permission: 'sts:AssumeRole', resource: roleArn, why, note: thrown.message }
    return [{ ...assuming, access: missing ? 'missing' : 'unsure' }]
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
