/** What a tool needs of Google, by what it does. */
export const FEATURES = ['start', 'follow', 'history', 'gates', 'cancel', 'discover'] as const
export type Feature = (typeof FEATURES)[number]

export interface Permission {
  readonly permission: string
  /** The predefined role that holds it and little else. */
  readonly role: 'roles/workflows.invoker' | 'roles/workflows.viewer'
  readonly why: string
}

const WORKFLOW: Permission = {
  permission: 'workflows.workflows.get',
  role: 'roles/workflows.viewer',
  why: 'its description and revision; and to tell a run that is gone from one that can not be read',
}
const invoker = (permission: string, why: string): Permission => ({
  permission,
  role: 'roles/workflows.invoker',
  why,
})
const GET = invoker('workflows.executions.get', 'state, result and error of a run')

/** https://docs.cloud.google.com/workflows/docs/access-control */
export const PERMISSIONS: Readonly<Record<Feature, readonly Permission[]>> = {
  start: [
    WORKFLOW,
    invoker('workflows.executions.create', 'starts the run'),
    invoker('workflows.executions.list', 'finds a run whose start was not answered'),
  ],
  follow: [WORKFLOW, GET],
  history: [invoker('workflows.stepEntries.list', 'iterations, and the variables that gates read')],
  gates: [
    invoker('workflows.callbacks.list', 'the callbacks that steps wait for'),
    invoker('workflows.callbacks.send', 'an answer that was given or declined'),
  ],
  cancel: [GET, invoker('workflows.executions.cancel', 'stops the run')],
  discover: [
    {
      permission: 'workflows.workflows.list',
      role: 'roles/workflows.viewer',
      why: 'lists what could become a tool',
    },
  ],
}

/** The permissions for the features, each once. */
export function permissionsFor(features: readonly Feature[]): Permission[] {
  const grants = new Map<string, Permission>()
  for (const each of features.flatMap((feature) => PERMISSIONS[feature])) {
    if (!grants.has(each.permission)) grants.set(each.permission, each)
  }
  return [...grants.values()]
}
