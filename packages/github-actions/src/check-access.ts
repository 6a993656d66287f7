import type { CallContext } from '@runbridge/core'
import type { GitHubClient } from './clients.js'
import type { Engine } from './engine.js'
import { engineError, statusOf } from './errors.js'
import { type Feature, PERMISSIONS, type Permission } from './permissions.js'
import { readKept, send } from './request.js'
import { type GitHubActionsWorkflow, parseWorkflowId } from './workflow.js'

/** `unsure`: GitHub can't be asked without an effect, or answered something else; `note` says what. */
export interface AccessReport extends Permission {
  readonly access: 'allowed' | 'missing' | 'unsure'
  readonly note?: string
}

interface Probe {
  readonly route: string
  readonly path?: Readonly<Record<string, string | number>>
  /** What only an allowed call gets, beside success: it asks about what is not there. */
  readonly allowedBy?: number
}

/** No run and no check has this id, so a call about it has no effect whatever GitHub answers. */
const NONE = 1

/** There is no harmless probe for what creates events and reviews. */
const PROBES: Readonly<Record<string, Probe>> = {
  'Metadata: read': { route: 'GET /repos/{owner}/{repo}' },
  'Contents: read': {
    route: 'GET /repos/{owner}/{repo}/contents/{path}',
    path: { path: '.github/workflows' },
    allowedBy: 404,
  },
  'Actions: read': { route: 'GET /repos/{owner}/{repo}/actions/runs' },
  'Actions: write': {
    route: 'POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel',
    path: { run_id: NONE },
    allowedBy: 404,
  },
  'Checks: read': {
    route: 'GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations',
    path: { check_run_id: NONE },
    allowedBy: 404,
  },
}

/** Asks GitHub which of the permissions that the features need are there, by calls that can have no effect. */
export async function checkAccess(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  features: readonly Feature[],
  context: CallContext,
): Promise<AccessReport[]> {
  const needed = new Map<string, Permission>()
  for (const each of features.flatMap((feature) => PERMISSIONS[feature])) {
    const key = `${each.token} ${each.permission}`
    if (!needed.has(key)) needed.set(key, each)
  }
  const reports: AccessReport[] = []
  for (const each of needed.values()) {
    const client = each.token === 'server' ? engine.clients.reads : engine.clients.reviewer
    reports.push({ ...each, ...(await probe(engine, workflow, each, client, context)) })
  }
  return reports
}

async function probe(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  { permission }: Permission,
  client: GitHubClient | undefined,
  { signal }: CallContext,
): Promise<Pick<AccessReport, 'access' | 'note'>> {
  if (!client) return { access: 'missing', note: "no reviewer's token is configured" }
  const asked = Object.hasOwn(PROBES, permission) ? PROBES[permission] : undefined
  if (!asked) return { access: 'unsure', note: 'it can not be tried without an effect' }
  const { owner, repo } = parseWorkflowId(workflow.id)
  const what = `a request of ${owner}/${repo} that needs it`
  try {
    const { route, path } = asked
    await send(engine, { what, permission, client, route, path: { owner, repo, ...path }, signal })
    return { access: 'allowed' }
  } catch (thrown) {
    if (asked.allowedBy !== undefined && statusOf(thrown) === asked.allowedBy) {
      return shown(engine, { owner, repo }, client, signal)
    }
    const error = engineError(thrown, { what, permission }, engine.now())
    return { access: error.code === 'denied' ? 'missing' : 'unsure', note: error.message }
  }
}

/** In a repository that a token does not see, everything seems not to exist, whatever it may do. */
async function shown(
  engine: Engine,
  path: { readonly owner: string; readonly repo: string },
  client: GitHubClient,
  signal: AbortSignal,
): Promise<Pick<AccessReport, 'access' | 'note'>> {
  const asked = { what: `the repository ${path.owner}/${path.repo}`, permission: 'Metadata: read' }
  try {
    await readKept(engine, { ...asked, client, route: 'GET /repos/{owner}/{repo}', path, signal })
    return { access: 'allowed' }
  } catch (thrown) {
    return { access: 'unsure', note: engineError(thrown, asked, engine.now()).message }
  }
}
