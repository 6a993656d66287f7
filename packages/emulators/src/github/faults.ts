import * as z from 'zod'
import { isOperation, type OperationName } from './operations/index.js'

export const faultSchema = z.discriminatedUnion('kind', [
  /** That answer instead, without any effect. */
  z.strictObject({
    kind: z.literal('error'),
    status: z.int(),
    message: z.string(),
    headers: z.record(z.string(), z.string()).optional(),
  }),
  /** 403 as for a token that lacks the permission. */
  z.strictObject({ kind: z.literal('denied') }),
  /** 401 as for a token that is expired or revoked. */
  z.strictObject({ kind: z.literal('unauthorized') }),
  /** 404 as for a token that does not see the repository any more. */
  z.strictObject({ kind: z.literal('hidden') }),
  /** A secondary rate limit; `retryAfter` in seconds. */
  z.strictObject({ kind: z.literal('secondaryLimit'), retryAfter: z.int().optional() }),
  /** The primary rate limit; `resetIn` in seconds. */
  z.strictObject({ kind: z.literal('primaryLimit'), resetIn: z.int() }),
  /** A status without JSON, as from a proxy. */
  z.strictObject({ kind: z.literal('status'), status: z.int() }),
  z.strictObject({ kind: z.literal('dropBeforeExecuting') }),
  z.strictObject({ kind: z.literal('dropAfterExecuting') }),
  z.strictObject({ kind: z.literal('hang'), afterExecuting: z.boolean().optional() }),
  z.strictObject({ kind: z.literal('delayMs'), ms: z.int() }),
  /** On a dispatch: the run is there and not shown for the next looks. */
  z.strictObject({ kind: z.literal('hide'), looks: z.int() }),
  z.strictObject({ kind: z.literal('none') }),
])

export type Fault = z.infer<typeof faultSchema>
/** The operation a fault is for, as GitHub's description names it; `*` is every one. */
export type FaultTarget = OperationName | '*'

export function isFaultTarget(name: string): name is FaultTarget {
  return name === '*' || isOperation(name)
}

export interface Faults {
  /** Queues faults for the next calls of an operation, one a call, in this order. Those for `*` come after its own. */
  next(operation: FaultTarget, ...faults: Fault[]): void
  /** A fault for every call of an operation while its queue is empty, until `clear`. */
  always(operation: FaultTarget, fault: Fault): void
  /** Drops the queued and standing faults of an operation, or of all. */
  clear(operation?: FaultTarget): void
  /** What is still to come, by operation. */
  pending(): Record<string, { next: Fault[]; always: Fault | undefined }>
}

export interface FaultScript extends Faults {
  take(operation: OperationName): Fault | undefined
}

export function faultScript(): FaultScript {
  const queues = new Map<FaultTarget, Fault[]>()
  const standing = new Map<FaultTarget, Fault>()
  return {
    next: (operation, ...faults) => void queues.set(operation, [...(queues.get(operation) ?? []), ...faults]),
    always: (operation, fault) => void standing.set(operation, fault),
    clear(operation) {
      for (const map of [queues, standing]) operation === undefined ? map.clear() : map.delete(operation)
    },
    pending() {
      const targets = new Set([...queues.keys(), ...standing.keys()])
      return Object.fromEntries(
        [...targets].map((name) => [name, { next: queues.get(name) ?? [], always: standing.get(name) }]),
      )
    },
    take: (operation) =>
      queues.get(operation)?.shift() ??
      queues.get('*')?.shift() ??
      standing.get(operation) ??
      standing.get('*'),
  }
}
