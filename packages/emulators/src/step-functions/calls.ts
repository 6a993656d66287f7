import type { OperationName } from './operations/index.js'
import type { Request } from './operations/operation.js'

/** One StartExecution or StartSyncExecution that arrived, with what became of it. */
export interface StartCall {
  operation: 'StartExecution' | 'StartSyncExecution'
  /** Epoch milliseconds. */
  at: number
  name: string | undefined
  stateMachineArn: string
  input: string | undefined
  /** `started` a new execution; `same` as one that runs; an error's type; `none` where a fault kept it from executing. */
  outcome: string
  /** The kind of fault that this call met. */
  fault: string | undefined
}

/** Every call that arrived, retries and those answered by a fault included. */
export interface CallReport {
  byOperation: Record<string, number>
  /** By the name of the execution that the request names. */
  byExecution: Record<string, Record<string, number>>
  starts: StartCall[]
}

export interface CallLog {
  /** Counts a call; for starts, returns the entry to complete. */
  record(operation: OperationName, request: Request, fault: string | undefined): StartCall | undefined
  report(): CallReport
  reset(): void
}

export function callLog(now: () => number): CallLog {
  let byOperation: Record<string, number> = {}
  let byExecution: Record<string, Record<string, number>> = {}
  let starts: StartCall[] = []
  return {
    record(operation, request, fault) {
      byOperation[operation] = (byOperation[operation] ?? 0) + 1
      const name = nameOf(request)
      if (name !== undefined) {
        byExecution[name] ??= {}
        byExecution[name][operation] = (byExecution[name][operation] ?? 0) + 1
      }
      if (operation !== 'StartExecution' && operation !== 'StartSyncExecution') return undefined
      const input = request.input === undefined ? undefined : String(request.input)
      const stateMachineArn = String(request.stateMachineArn)
      const start: StartCall = { operation, at: now(), name, stateMachineArn, input, outcome: 'none', fault }
      starts.push(start)
      return start
    },
    report: () => structuredClone({ byOperation, byExecution, starts }),
    reset() {
      byOperation = {}
      byExecution = {}
      starts = []
    },
  }
}

function nameOf({ name, executionArn, stateMachineArn }: Request): string | undefined {
  if (typeof executionArn === 'string') return executionArn.split(':')[7]
  return typeof name === 'string' && stateMachineArn !== undefined ? name : undefined
}
