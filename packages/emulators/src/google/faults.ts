import * as z from 'zod'
import { RPC_STATUSES } from './errors.js'

/** The calls that are served, under the names of Google's methods. */
const OPERATIONS = [
  'CreateExecution',
  'GetExecution',
  'ListExecutions',
  'CancelExecution',
  'ListCallbacks',
  'SendCallback',
  'ListStepEntries',
  'GetWorkflow',
  'ListWorkflows',
] as const
export type Operation = (typeof OPERATIONS)[number]

/** What happens to one call instead of, or around, its normal answer. */
export const faultSchema = z.discriminatedUnion('kind', [
  /** An error of the API, before anything has an effect. */
  z.object({ kind: z.literal('error'), status: z.enum(RPC_STATUSES), message: z.string().optional() }),
  /** PERMISSION_DENIED that names the permission of the call. */
  z.object({ kind: z.literal('denied') }),
  /** An HTTP status whose body is not of the API, as a proxy answers; on gRPC what its libraries make of it. */
  z.object({ kind: z.literal('status'), status: z.int().min(400).max(599) }),
  /** The connection is reset; the call had no effect. */
  z.object({ kind: z.literal('dropBeforeExecuting') }),
  /** The call has its effect, then the connection is reset: the answer is lost. */
  z.object({ kind: z.literal('dropAfterExecuting') }),
  /** The call waits this long, then goes on as usual. */
  z.object({ kind: z.literal('delayMs'), ms: z.int().min(0) }),
  /** No answer until the caller gives up; with `afterExecuting` the call has its effect first. */
  z.object({ kind: z.literal('hang'), afterExecuting: z.boolean().optional() }),
  /** On CreateExecution: the next `times` lists leave the new execution out. */
  z.object({ kind: z.literal('hide'), times: z.int().min(1) }),
  /** On GetExecution: these fields instead of the real ones, such as a state that nobody knows (a number). */
  z.object({ kind: z.literal('report'), fields: z.record(z.string(), z.unknown()) }),
  /** Nothing: this call goes through (to place a fault on a later one). */
  z.object({ kind: z.literal('none') }),
])

export type Fault = z.infer<typeof faultSchema>
/** The call a fault is for; `*` is every call. */
export type FaultTarget = Operation | '*'

export function isFaultTarget(name: string): name is FaultTarget {
  return name === '*' || (OPERATIONS as readonly string[]).includes(name)
}

export interface Faults {
  /** Queues faults for the next calls, one a call, in this order. Those for `*` come after its own. */
  next(operation: FaultTarget, ...faults: Fault[]): void
  /** A fault for every call while its queue is empty, until `clear`. */
  always(operation: FaultTarget, fault: Fault): void
  /** Drops the queued and standing faults of a call, or of all. */
  clear(operation?: FaultTarget): void
  /** The engine no longer knows this execution; if it still ran, it ends without a trace. */
  forget(execution: string): void
  /** What is still to come, by call. */
  pending(): Record<string, { next: Fault[]; always: Fault | undefined }>
}

export interface FaultScript extends Faults {
  take(operation: Operation): Fault | undefined
}

export function faultScript(forget: (execution: string) => void): FaultScript {
  const queues = new Map<FaultTarget, Fault[]>()
  const standing = new Map<FaultTarget, Fault>()
  return {
    next: (operation, ...faults) => void queues.set(operation, [...(queues.get(operation) ?? []), ...faults]),
    always: (operation, fault) => void standing.set(operation, fault),
    clear(operation) {
      for (const map of [queues, standing]) {
        if (operation === undefined) map.clear()
        else map.delete(operation)
      }
    },
    forget,
    pending() {
      const targets = new Set([...queues.keys(), ...standing.keys()])
      return Object.fromEntries(
        [...targets].map((name) => [
          name,
          { next: [...(queues.get(name) ?? [])], always: standing.get(name) },
        ]),
      )
    },
    take: (operation) =>
      queues.get(operation)?.shift() ??
      queues.get('*')?.shift() ??
      standing.get(operation) ??
      standing.get('*'),
  }
}
