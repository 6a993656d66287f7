/** What a tool needs of GitHub, by what it does. */
export const FEATURES = [
  'start',
  'repositoryDispatch',
  'follow',
  'failure',
  'cancel',
  'gates',
  'forks',
] as const
export type Feature = (typeof FEATURES)[number]

export interface Permission {
  /** As fine-grained tokens and Apps name it. */
  readonly permission: string
  /** Whose token needs it. */
  readonly token: 'server' | 'reviewer'
  readonly why: string
}

const SEE: Permission = { permission: 'Metadata: read', token: 'server', why: 'the default branch' }
const FILE: Permission = {
  permission: 'Contents: read',
  token: 'server',
  why: 'the inputs that the workflow file declares',
}
const RUNS = (why: string): Permission => ({ permission: 'Actions: read', token: 'server', why })

/** https://docs.github.com/en/rest/authentication/permissions-required-for-fine-grained-personal-access-tokens */
export const PERMISSIONS: Readonly<Record<Feature, readonly Permission[]>> = {
  start: [
    SEE,
    FILE,
    { permission: 'Actions: write', token: 'server', why: 'dispatches the workflow' },
    RUNS('finds a run whose dispatch was not answered'),
  ],
  repositoryDispatch: [
    SEE,
    { permission: 'Contents: write', token: 'server', why: 'creates the event' },
    RUNS('finds the run, since no event tells its id'),
  ],
  follow: [RUNS('state, jobs, steps, artifacts and logs')],
  failure: [{ permission: 'Checks: read', token: 'server', why: 'the annotations of the failed job' }],
  cancel: [{ permission: 'Actions: write', token: 'server', why: 'cancels, and later by force' }],
  gates: [
    { permission: 'Actions: read', token: 'reviewer', why: 'the environments that wait, and their reviews' },
    {
      permission: 'Deployments: write',
      token: 'reviewer',
      why: 'approves or rejects; the person must be a reviewer of the environment, and an App can not be one',
    },
  ],
  forks: [{ permission: 'Actions: write', token: 'reviewer', why: 'lets a run from a fork run' }],
}
