import * as z from 'zod'
import { isOperationName, type OperationName } from './operations/index.js'

/** What happens to one call instead of, or around, its normal answer. */
export const faultSchema = z.discriminatedUnion('kind', [
  /** An error of the API, before anything has an effect. `status` is 400 by default. */
  z.object({
    kind: z.literal('error'),
    type: z.string(),
    message: z.string().optional(),
    status: z.int().min(400).max(599).optional(),
  }),
  /** AccessDeniedException that names the action, and the resource of the request unless another is given. */
  z.object({ kind: z.literal('denied'), resource: z.string().optional() }),
  /** An HTTP status whose body is not of the API, as a proxy or a load balancer answers. */
  z.object({ kind: z.literal('status'), status: z.int().min(400).max(599) }),
  /** The connection is reset; the call had no effect. */
  z.object({ kind: z.literal('dropBeforeExecuting') }),
  /** The call has its effect, then the connection is reset: the answer is lost. */
  z.object({ kind: z.literal('dropAfterExecuting') }),
  /** The call waits this long, then goes on as usual. */
  z.object({ kind: z.literal('delayMs'), ms: z.int().min(0) }),
  /** No answer until the emulator closes or the caller gives up; with `afterExecuting` the call has its effect first. */
  z.object({ kind: z.literal('hang'), afterExecuting: z.boolean().optional() }),
  /**
   * ExecutionDoesNotExist, as a read gives that is behind the write. On StartExecution: for the first `times` calls that
   * name the execution it started. On any other action: for its next `times` calls.
   */
  z.object({ kind: z.literal('hide'), times: z.int().min(1) }),
  /** Nothing: this call goes through (to place a fault on a later one). */
  z.object({ kind: z.literal('none') }),
])

export type Fault = z.infer<typeof faultSchema>

/** The action a fault is for; `*` is every action. */
export type FaultTarget = OperationName | '*'

export function isFaultTarget(name: string): name is FaultTarget {
  return name === '*' || isOperationName(name)
}

export interface Faults {
  /** Queues faults for the next calls of an action, one a call, in this order. Those for `*` come after its own. */
  next(operation: FaultTarget, ...faults: Fault[]): void
  /** A fault for every call of an action while its queue is empty, until `clear`. */
  always(operation: FaultTarget, fault: Fault): void
  /** Drops the queued and standing faults of an action, or of all; hidden executions show again with the latter. */
  clear(operation?: FaultTarget): void
  /** The next `times` calls that name this execution answer ExecutionDoesNotExist; it is missing from lists until then. */
  hide(executionArn: string, times: number): void
  /** The engine no longer knows this execution; if it still ran, it ends without a trace. */
  forget(executionArn: string): void
  /** What is still to come, by action. */
  pending(): Record<string, { next: Fault[]; always: Fault | undefined }>
}

export interface FaultScript extends Faults {
  take(operation: OperationName): Fault | undefined
  /** Whether a call that names this execution has to deny it; counts down. */
  denies(executionArn: unknown): boolean
  hidden(executionArn: string): boolean
}

export function faultScript(forget: (executionArn: string) => void): FaultScript {
  const queues = new Map<FaultTarget, Fault[]>()
  const standing = new Map<FaultTarget, Fault>()
  const hiding = new Map<string, number>()

  function hide(executionArn: string, times: number): void {
    hiding.set(executionArn, times)
  }

  return {
    next(operation, ...faults) {
      const queued = faults.flatMap((fault): Fault[] =>
        fault.kind === 'hide' && operation !== 'StartExecution'
          ? Array.from({ length: fault.times }, () => ({ kind: 'hide', times: 1 }))
          : [fault],
      )
      queues.set(operation, [...(queues.get(operation) ?? []), ...queued])
    },
    always: (operation, fault) => void standing.set(operation, fault),
    clear(operation) {
      if (operation === undefined) for (const map of [queues, standing, hiding]) map.clear()
      else for (const map of [queues, standing]) map.delete(operation)
    },
    hide,
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
    take(operation) {
      return (
        queues.get(operation)?.shift() ??
        queues.get('*')?.shift() ??
        standing.get(operation) ??
        standing.get('*')
      )
    },
    denies(executionArn) {
      const left = hiding.get(String(executionArn))
      if (left === undefined) return false
      if (left > 1) hide(String(executionArn), left - 1)
      else hiding.delete(String(executionArn))
      return true
    },
    hidden: (executionArn) => hiding.has(executionArn),
  }
}
