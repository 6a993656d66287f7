import type { Backend, Log } from '@runbridge/core'
import {
  type CloseableGoogleWorkflowsClients,
  checkAccess,
  createGoogleWorkflowsClients,
  type Feature,
  type GoogleWorkflow,
  googleWorkflows,
  workflowName,
} from '@runbridge/google-workflows'
import type { Config, ToolConfig } from '../config/schema.js'
import { type Bound, manner, type OpenEngine } from './bound.js'

interface Google {
  readonly clients: CloseableGoogleWorkflowsClients
  readonly backend: Backend<GoogleWorkflow>
}

/** One client for all projects and locations: Google has one endpoint for them. */
export function openGoogleWorkflows(
  config: Config['engines']['googleWorkflows'],
  { log }: { readonly log?: Log },
): OpenEngine<NonNullable<ToolConfig['googleWorkflows']>, ToolConfig> {
  const { graceMs, readsPerSecond, ...settings } = config
  let opened: Promise<Google> | undefined

  async function open(): Promise<Google> {
    const clients = await createGoogleWorkflowsClients(settings)
    const warn = (message: string) => log?.warn({ engine: 'google-workflows' }, message)
    return { clients, backend: googleWorkflows({ clients, visibilityMs: graceMs, readsPerSecond, warn }) }
  }

  return {
    async bind({ project, location, workflow: name, ...binding }, tool): Promise<Bound> {
      opened ??= open()
      const { backend, clients } = await opened
      const id = workflowName({ project, location, workflow: name })
      const workflow: GoogleWorkflow = { id, ...binding }
      return {
        backend,
        workflow,
        async describe(served, signal) {
          const { revision } = await backend.describe(workflow, { signal })
          return `revision ${revision ?? 'unknown'}: ${manner(served)}`
        },
        access: (_, signal) => checkAccess(clients, id, featuresOf(tool), { signal }),
      }
    },
    async close() {
      const google = await opened?.catch(() => undefined)
      await google?.clients.close()
    },
  }
}

function featuresOf({ humanInput, googleWorkflows: binding }: ToolConfig): Feature[] {
  return [
    'start',
    'follow',
    'cancel',
    ...(binding?.historyLevel === undefined ? [] : (['history'] as const)),
    ...(humanInput === 'off' ? [] : (['gates'] as const)),
  ]
}
