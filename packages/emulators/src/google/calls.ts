import type { Operation } from './faults.js'
import type { Request } from './operations.js'

/** One CreateExecution that arrived, with what became of it. */
export interface StartCall {
  /** Epoch milliseconds. */
  readonly at: number
  readonly surface: Surface
  readonly parent: string
  readonly labels: unknown
  /** The name of the new execution, an error's status, or `none` where a fault kept it from executing. */
  outcome: string
  /** The kind of fault that this call met. */
  readonly fault: string | undefined
}

export type Surface = 'grpc' | 'rest'

/** Every call that arrived, those answered by a fault included. */
export interface CallReport {
  readonly byOperation: Record<string, number>
  readonly bySurface: Record<Surface, number>
  readonly starts: StartCall[]
}

export interface CallLog {
  /** Counts a call; for starts, returns the entry to complete. */
  record(operation: Operation, surface: Surface, request: Request, fault?: string): StartCall | undefined
  report(): CallReport
  reset(): void
}

export function callLog(now: () => number): CallLog {
  let report: CallReport = empty()
  return {
    record(operation, surface, { parent, execution }, fault) {
      report.byOperation[operation] = (report.byOperation[operation] ?? 0) + 1
      report.bySurface[surface] += 1
      if (operation !== 'CreateExecution') return undefined
      const { labels } = (execution ?? {}) as { labels?: unknown }
      const start: StartCall = { at: now(), surface, parent: String(parent), labels, outcome: 'none', fault }
      report.starts.push(start)
      return start
    },
    report: () => structuredClone(report),
    reset() {
      report = empty()
    },
  }
}

function empty(): CallReport {
  return { byOperation: {}, bySurface: { grpc: 0, rest: 0 }, starts: [] }
}
