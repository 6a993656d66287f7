import type { FindResult } from '@runbridge/core'
import type { GitHubClient, GitHubClients } from './clients.js'

/** What the parts of the backend share. */
export interface Engine {
  readonly clients: GitHubClients
  readonly warn: (message: string) => void
  /** ms since the epoch. */
  readonly now: () => number
  /** Until when GitHub wants no requests with a client's credential, in ms since the epoch. */
  readonly pauses: WeakMap<GitHubClient, number>
  /** Whether the host knows `return_run_details`; set once it refused it. */
  readonly host: { refusesRunDetails: boolean }
  /** Whether runs of a workflow show their key, as its file said when it was read last; by workflow id. */
  readonly findable: Map<string, boolean>
  /** What the last looks for a key came to, so that a look again costs no quota; by workflow and key. */
  readonly looks: Map<string, { readonly etag: string; readonly result: FindResult }>
  /** What was read of repositories and workflow files last, so that reading them again costs no quota; by request. */
  readonly read: Map<string, { readonly etag: string; readonly data: unknown }>
  /** Logs of ended jobs, which do not change any more, by job. */
  readonly logs: Map<number, string>
  /** Of more of them their lengths, so that what was passed over is not fetched again. */
  readonly logLengths: Map<number, number>
}

/** One for a backend: what it remembers only saves requests. */
export function createEngine(given: Pick<Engine, 'clients' | 'warn' | 'now'>): Engine {
  return {
    ...given,
    pauses: new WeakMap(),
    host: { refusesRunDetails: false },
    findable: new Map(),
    looks: new Map(),
    read: new Map(),
    logs: new Map(),
    logLengths: new Map(),
  }
}
