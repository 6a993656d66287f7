import type { Json } from './asl.js'

/** One event as GetExecutionHistory shows it; `timestamp` in epoch milliseconds here. */
export interface HistoryEvent {
  id: number
  previousEventId: number
  timestamp: number
  type: string
  [details: string]: unknown
}

export interface History {
  readonly events: readonly HistoryEvent[]
  /** Appends an event and returns its id. `previous` is the event that led to it, 0 for none. */
  add(type: string, previous: number, details?: Record<string, unknown>): number
}

/** AWS ends an execution whose history is longer. */
export const maxEvents = 25_000

export function history(now: () => number, onFull: () => void): History {
  const events: HistoryEvent[] = []
  return {
    events,
    add(type, previous, details) {
      const id = events.length + 1
      const field = detailsField(type)
      events.push({
        id,
        previousEventId: previous,
        timestamp: now(),
        type,
        ...(details && { [field]: details }),
      })
      if (id === maxEvents - 1) onFull()
      return id
    },
  }
}

function detailsField(type: string): string {
  if (type.endsWith('StateEntered')) return 'stateEnteredEventDetails'
  if (type.endsWith('StateExited')) return 'stateExitedEventDetails'
  return `${type.charAt(0).toLowerCase()}${type.slice(1)}EventDetails`
}

const whole = { truncated: false }
export const withInput = (input: Json) => ({ input: JSON.stringify(input), inputDetails: whole })
export const withOutput = (output: Json) => ({ output: JSON.stringify(output), outputDetails: whole })

/** Error and cause, each only where there is one. */
export function failureDetails(failure: { error: string | undefined; cause: string | undefined }) {
  return {
    ...(failure.error !== undefined && { error: failure.error }),
    ...(failure.cause !== undefined && { cause: failure.cause }),
  }
}

const executionData = new Set(['input', 'output', 'parameters', 'inputDetails', 'outputDetails'])

/** An event for the wire: epoch seconds, and no input, output or parameters where they were not asked for. */
export function wireEvent(event: HistoryEvent, includeExecutionData: boolean): Record<string, unknown> {
  const wire: Record<string, unknown> = { ...event, timestamp: event.timestamp / 1000 }
  if (includeExecutionData) return wire
  for (const [field, details] of Object.entries(wire)) {
    if (typeof details !== 'object' || details === null) continue
    wire[field] = Object.fromEntries(Object.entries(details).filter(([name]) => !executionData.has(name)))
  }
  return wire
}
