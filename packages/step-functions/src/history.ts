import { GetExecutionHistoryCommand, type HistoryEvent } from '@aws-sdk/client-sfn'
import type { StepFunctionsClient } from './clients.js'

/** AWS ends an execution whose history has 25,000 events: whole histories have a bound of their own. */
const MAX_EVENTS = 25_000

export interface HistoryRead {
  readonly client: StepFunctionsClient
  readonly executionArn: string
  readonly signal: AbortSignal
  /** Whether inputs, outputs and parameters come along, task tokens among them. */
  readonly data: boolean
  /** Events a call, 1 to 1000. */
  readonly pageSize: number
}

/** An event with what every event has. */
export type Event = HistoryEvent & { readonly id: number; readonly type: string }

/** The pages of the history, newest event first, as they are asked for. Throws what the client throws. */
export async function* newestFirst(read: HistoryRead): AsyncGenerator<readonly Event[], void, undefined> {
  let nextToken: string | undefined
  for (let seen = 0; seen <= MAX_EVENTS; ) {
    const page = await read.client.send(
      new GetExecutionHistoryCommand({
        executionArn: read.executionArn,
        reverseOrder: true,
        maxResults: read.pageSize,
        includeExecutionData: read.data,
        ...(nextToken !== undefined && { nextToken }),
      }),
      { abortSignal: read.signal },
    )
    const events = (page.events ?? []).filter(isEvent)
    yield events
    nextToken = page.nextToken
    if (nextToken === undefined) return
    // An empty page with a token counts too, so that this ends whatever is answered.
    seen += Math.max(events.length, 1)
  }
}

function isEvent(event: HistoryEvent): event is Event {
  return event.id !== undefined && event.type !== undefined
}

/** Events from the newest back to (and with) the first for which `until` holds, oldest first. */
export async function readBack(read: HistoryRead, until: (event: Event) => boolean): Promise<Event[]> {
  const events: Event[] = []
  for await (const page of newestFirst(read)) {
    for (const event of page) {
      events.push(event)
      if (until(event)) return events.reverse()
    }
  }
  return events.reverse()
}

export function enteredName(event: Event): string | undefined {
  return event.type.endsWith('StateEntered') ? event.stateEnteredEventDetails?.name : undefined
}

/** The state in which an event happened: the nearest one entered on the way back from it. */
export function stateBefore(events: ReadonlyMap<number, Event>, from: number): Event | undefined {
  let event = events.get(from)
  while (event && enteredName(event) === undefined) {
    const previous: number = previousOf(event)
    event = previous < event.id ? events.get(previous) : undefined
  }
  return event
}

/** The event that led to this one; where an endpoint leaves that out, the one before. AWS gives 0 for none. */
export function previousOf({ id, previousEventId }: Event): number {
  return previousEventId ?? id - 1
}

export function byId(events: readonly Event[]): Map<number, Event> {
  return new Map(events.map((event) => [event.id, event]))
}

const ENDS = ['ExecutionFailed', 'ExecutionTimedOut', 'ExecutionAborted', 'ExecutionSucceeded']

/** Whether an attempt of the execution ended here. */
export function isEnd(event: Event): boolean {
  return ENDS.includes(event.type)
}
