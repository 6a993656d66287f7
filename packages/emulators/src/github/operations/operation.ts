import type { Repository } from '../repository.js'
import type { EmulatorState, PermissionName, Token } from '../state.js'

export interface Call {
  readonly state: EmulatorState
  readonly token: Token
  /** The one that the path names; absent for operations outside of one. */
  readonly repository: Repository
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
}

export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Operation {
  readonly method: 'GET' | 'POST'
  /** As GitHub's description has it. */
  readonly path: string
  /** The permission it needs; absent: none but to see the repository. */
  readonly needs?: readonly [PermissionName, 'read' | 'write']
  /** Gives the reply, or throws an `apiError`. */
  answer(call: Call): Reply
}

export const ok = (body: unknown): Reply => ({ status: 200, body })

/** A page of a list: https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api */
export function pageOf<T>(all: readonly T[], query: URLSearchParams): T[] {
  const size = Math.min(Math.max(Number(query.get('per_page') ?? 30), 1), 100)
  const page = Math.max(Number(query.get('page') ?? 1), 1)
  return all.slice((page - 1) * size, page * size)
}
