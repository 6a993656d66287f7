import type { Snapshot } from '@runbridge/core'
import type { Place } from './arn.js'
import { failingState } from './failing-state.js'
import type { Ending } from './failure.js'
import { type Event, type HistoryRead, isEnd, newestFirst } from './history.js'
import { snapshotOf } from './snapshot.js'
import { STATES } from './states.js'

const STATUS_OF_END = {
  ExecutionFailed: 'FAILED',
  ExecutionTimedOut: 'TIMED_OUT',
  ExecutionAborted: 'ABORTED',
  ExecutionSucceeded: 'SUCCEEDED',
} as const

/**
 * The end of an attempt that was redriven since. A redrive runs on under the same ARN and hides it from
 * DescribeExecution; in the history it is the last end before the `ExecutionRedriven` that began the next
 * attempt. Undefined when the history does not show it. Throws what the client throws.
 */
export async function endOfAttempt(
  read: HistoryRead,
  attempt: number,
  place: Place,
  startDate: Date | undefined,
): Promise<Snapshot | undefined> {
  const events: Event[] = []
  let end: Event | undefined
  let redriven = false
  for await (const page of newestFirst(read)) {
    for (const event of page) {
      events.push(event)
      if (event.executionRedrivenEventDetails?.redriveCount === attempt + 1) redriven = true
      else if (redriven && !end && isEnd(event)) end = event
    }
    // The failing state is some events before the end: the rest of this page, which is mostly enough.
    if (end) break
  }
  if (!end) return undefined
  const status = STATUS_OF_END[end.type as keyof typeof STATUS_OF_END]
  const execution = {
    executionArn: read.executionArn,
    status,
    ...endingOf(end),
    ...(end.executionSucceededEventDetails && { output: end.executionSucceededEventDetails.output }),
    startDate,
    stopDate: end.timestamp,
  }
  return snapshotOf(execution, {
    place,
    state: STATES[status].state,
    step: status === 'FAILED' || status === 'TIMED_OUT' ? failingState(events.reverse(), end) : undefined,
  })
}

function endingOf(event: Event): Ending {
  return (
    event.executionFailedEventDetails ??
    event.executionTimedOutEventDetails ??
    event.executionAbortedEventDetails ??
    {}
  )
}
