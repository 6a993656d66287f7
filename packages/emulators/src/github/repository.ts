import type { Run } from './run.js'
import type { WorkflowScript } from './script.js'

export interface EnvironmentSource {
  /** Logins that may approve. Default none: jobs do not wait. */
  readonly reviewers?: readonly string[]
}

export interface WorkflowSource {
  /** The workflow file as it is on every ref, or by ref. */
  readonly file: string | Readonly<Record<string, string>>
  readonly script?: WorkflowScript
  /** Default `active`. */
  readonly state?: 'active' | 'deleted' | 'disabled_fork' | 'disabled_inactivity' | 'disabled_manually'
}

export interface RepositorySource {
  /** By file name below `.github/workflows`. */
  readonly workflows?: Readonly<Record<string, WorkflowSource>>
  readonly environments?: Readonly<Record<string, EnvironmentSource>>
  /** Default `main`. */
  readonly defaultBranch?: string
  /** Branches and tags beside the default branch. */
  readonly refs?: readonly string[]
}

export interface RepositoryWorkflow extends WorkflowSource {
  readonly id: number
  readonly fileName: string
}

export interface Environment {
  readonly id: number
  readonly name: string
  readonly reviewers: readonly string[]
}

export interface Repository {
  readonly id: number
  owner: string
  name: string
  readonly defaultBranch: string
  readonly refs: readonly string[]
  readonly workflows: readonly RepositoryWorkflow[]
  readonly environments: readonly Environment[]
  readonly runs: Map<number, Run>
  readonly createdAt: number
}

export function createRepository(
  fullName: string,
  source: RepositorySource,
  nextId: () => number,
  now: number,
): Repository {
  const [owner = '', name = ''] = fullName.split('/')
  const { defaultBranch = 'main', refs = [], workflows = {}, environments = {} } = source
  return {
    id: nextId(),
    owner,
    name,
    defaultBranch,
    refs: [defaultBranch, ...refs],
    workflows: Object.entries(workflows).map(([fileName, workflow]) => ({
      ...workflow,
      id: nextId(),
      fileName,
    })),
    environments: Object.entries(environments).map(([environment, { reviewers = [] }]) => ({
      id: nextId(),
      name: environment,
      reviewers,
    })),
    runs: new Map(),
    createdAt: now,
  }
}

/** The file at a ref, or undefined where there is none. */
export function fileAt({ file }: WorkflowSource, ref: string): string | undefined {
  return typeof file === 'string' ? file : file[ref]
}
