import type { OperationName } from './operations/index.js'

export interface CallReport {
  /** Every request that arrived, those answered by a fault included. */
  readonly total: number
  readonly byOperation: Readonly<Record<string, number>>
  /** Answers 304 to an authorised request: they cost no quota. */
  readonly notModified: number
  /** What the primary rate limit counted. */
  readonly costed: number
  readonly costedByOperation: Readonly<Record<string, number>>
  /** The bodies of dispatches, in order. */
  readonly dispatches: readonly unknown[]
}

export interface CallLog {
  arrived(operation: OperationName, body: unknown): void
  answered(operation: OperationName, status: number): void
  report(): CallReport
  reset(): void
}

export function callLog(): CallLog {
  let byOperation: Record<string, number> = {}
  let costedByOperation: Record<string, number> = {}
  let notModified = 0
  let dispatches: unknown[] = []
  const sum = (counts: Record<string, number>) =>
    Object.values(counts).reduce((total, count) => total + count, 0)
  return {
    arrived(operation, body) {
      byOperation[operation] = (byOperation[operation] ?? 0) + 1
      if (operation === 'actions/create-workflow-dispatch' || operation === 'repos/create-dispatch-event') {
        dispatches.push(body)
      }
    },
    answered(operation, status) {
      if (status === 304) notModified += 1
      else costedByOperation[operation] = (costedByOperation[operation] ?? 0) + 1
    },
    report: () =>
      structuredClone({
        total: sum(byOperation),
        byOperation,
        notModified,
        costed: sum(costedByOperation),
        costedByOperation,
        dispatches,
      }),
    reset() {
      byOperation = {}
      costedByOperation = {}
      notModified = 0
      dispatches = []
    },
  }
}
