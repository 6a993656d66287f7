import { randomUUID } from 'node:crypto'
import { type CallContext, RunbridgeError } from '@runbridge/core'
import type { GoogleWorkflowsClients } from './clients.js'
import { bound, getWorkflow } from './engine.js'
import { engineError, isNotFound } from './errors.js'
import { labelFilter, RUN_KEY_LABEL } from './labels.js'
import { type Feature, type Permission, permissionsFor } from './permissions.js'
import { locationOf } from './resource-name.js'

/** `unsure`: Google can't be asked without an effect, or answered something else; `note` says what. */
export interface AccessReport extends Permission {
  readonly resource: string
  readonly access: 'allowed' | 'missing' | 'unsure'
  readonly note?: string
}

interface Probed {
  readonly clients: GoogleWorkflowsClients
  readonly workflow: string
  /** Names no execution: what asks about it can do nothing to any. */
  readonly nowhere: string
  readonly context: CallContext
}

interface Probe {
  send(probed: Probed): Promise<unknown>
  /** Asks about an execution that is not there, so NOT_FOUND is what an allowed call gets. */
  readonly nowhere?: true
}

const below =
  (what: 'callbacks' | 'stepEntries') =>
  ({ clients, nowhere, context }: Probed) =>
    clients.rest.send({ api: 'executions', method: 'GET', path: `${nowhere}/${what}` }, context.signal)

/** Calls that can have no effect whatever Google answers. A start and an answer have one, so there is no probe. */
const PROBES: Readonly<Record<string, Probe>> = {
  'workflows.workflows.get': {
    send: ({ clients, workflow, context }) =>
      getWorkflow({ clients, warn: () => undefined }, workflow, context),
  },
  'workflows.workflows.list': {
    send: ({ clients, workflow, context }) =>
      clients.rest.send(
        {
          api: 'workflows',
          method: 'GET',
          path: `${locationOf(workflow)}/workflows`,
          query: { pageSize: '1' },
        },
        context.signal,
      ),
  },
  'workflows.executions.get': {
    send: ({ clients, nowhere, context }) => clients.reads.get(nowhere, context.signal),
    nowhere: true,
  },
  'workflows.executions.list': {
    send: ({ clients, workflow, context }) =>
      clients.reads.list(workflow, labelFilter(RUN_KEY_LABEL, 'rb-check'), context.signal),
  },
  'workflows.executions.cancel': {
    send: ({ clients, nowhere, context }) => clients.writes.cancel(nowhere, context.signal),
    nowhere: true,
  },
  'workflows.callbacks.list': { send: below('callbacks'), nowhere: true },
  'workflows.stepEntries.list': { send: below('stepEntries'), nowhere: true },
}

/** Asks Google which of the permissions that the features need are there, by calls that can have no effect. */
export async function checkAccess(
  clients: GoogleWorkflowsClients,
  workflow: string,
  features: readonly Feature[],
  context: CallContext,
): Promise<AccessReport[]> {
  const name = bound({ id: workflow })
  if (name instanceof RunbridgeError) throw name
  const nowhere = `${workflow}/executions/${randomUUID()}`
  const probed: Probed = { clients, workflow, nowhere, context }
  const reports: AccessReport[] = []
  for (const permission of permissionsFor(features)) {
    reports.push({ ...permission, resource: workflow, ...(await probe(permission, probed)) })
  }
  return reports
}

async function probe(
  { permission }: Permission,
  probed: Probed,
): Promise<Pick<AccessReport, 'access' | 'note'>> {
  const asked = Object.hasOwn(PROBES, permission) ? PROBES[permission] : undefined
  if (!asked) return { access: 'unsure', note: 'it can not be tried without an effect' }
  try {
    await asked.send(probed)
    return { access: 'allowed' }
  } catch (thrown) {
    if (asked.nowhere && isNotFound(thrown)) return { access: 'allowed' }
    const error = engineError(thrown, { permission, resource: probed.workflow })
    return { access: error.code === 'denied' ? 'missing' : 'unsure', note: error.message }
  }
}
