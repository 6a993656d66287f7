import type { Place } from './bodies.js'
import type { Repository } from './repository.js'
import type { Run } from './run.js'

/** What a token may do in its repositories: https://docs.github.com/en/rest/authentication/permissions-required-for-fine-grained-personal-access-tokens */
export type PermissionName = 'actions' | 'contents' | 'deployments' | 'checks'
export type Permissions = Readonly<Partial<Record<PermissionName, 'read' | 'write'>>>

export interface Token {
  readonly login: string
  /** `app`: an installation's; it can't review deployments. Default `user`. */
  readonly kind?: 'user' | 'app'
  /** Default: everything. */
  readonly permissions?: Permissions
  /** Full names of the repositories that it sees. Default all. */
  readonly repositories?: readonly string[]
}

export interface AppSource {
  readonly id: number
  /** PEM. Tokens for the installation are only given for JWTs signed with its other half. */
  readonly publicKey: string
  readonly installationId: number
  readonly permissions?: Permissions
}

/**
 * How a dispatch is answered. `details`: 200 with the run's id where it is asked for, else 204 (version 2022-11-28).
 * `always`: 200 always (version 2026-03-10). `none`: 204, and 422 for the field that asks (GHES 3.17 to 3.19).
 */
export type DispatchBehaviour = 'details' | 'always' | 'none'

export interface EmulatorState {
  readonly repositories: Repository[]
  /** Former full names, in lower case. */
  readonly renamed: Map<string, Repository>
  /** `undefined`: any token is a user that may do everything. */
  readonly tokens: Map<string, Token> | undefined
  readonly app: AppSource | undefined
  readonly blobs: Map<string, { readonly type: string; readonly data: Uint8Array }>
  readonly now: () => number
  readonly nextId: () => number
  dispatch: DispatchBehaviour
  place: Place
}

export function runOf({ repositories }: EmulatorState, id: number): Run | undefined {
  for (const { runs } of repositories) {
    const run = runs.get(id)
    if (run) return run
  }
  return undefined
}
