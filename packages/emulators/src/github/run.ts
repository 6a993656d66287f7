import type { Repository, RepositoryWorkflow } from './repository.js'

export interface Review {
  readonly environment: string
  readonly state: 'approved' | 'rejected'
  readonly comment: string
  readonly login: string
  /** Epoch milliseconds, as every time here. */
  readonly at: number
}

export interface Attempt {
  readonly number: number
  readonly startedAt: number
  reviews: Review[]
  cancelledAt?: number
  forcedAt?: number
  approvedAt?: number
}

/** A run as it was started, and what was done to it. What it looks like follows from its script and the time. */
export interface Run {
  readonly id: number
  readonly number: number
  readonly repository: Repository
  readonly workflow: RepositoryWorkflow
  readonly event: string
  readonly ref: string
  readonly title: string
  readonly login: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly attempts: Attempt[]
  /** How many more requests are answered as if it were not there yet. */
  hiddenLooks: number
}

export function lastAttempt(run: Run): Attempt {
  return run.attempts.at(-1) as Attempt
}
