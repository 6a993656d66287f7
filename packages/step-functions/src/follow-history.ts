import { byId, type Event, enteredName, isEnd, previousOf, stateBefore } from './history.js'
import type { Line, RunMarks, TokenTask, Visit } from './marks.js'

/** AWS's default timeout of a task, in seconds, which means none. */
const NO_TIMEOUT_SECONDS = 99_999_999
const FAILED_TRY = /^(Task|LambdaFunction|Activity)(Failed|TimedOut|StartFailed|SubmitFailed|ScheduleFailed)$/
export const CONTAINERS: readonly string[] = ['Map', 'Parallel']
const OF_CONTAINER = /^(Map|Parallel)State(Started|Succeeded|Failed|Aborted)$/

type Lines = Map<number, Line>

/**
 * Follows every line of events (oldest first): which states are entered and not left, which tasks wait for their
 * token, how far a Map is. When a Parallel or Map state ends, so does all inside, whatever its branches still say:
 * a branch that was aborted because a sibling failed leaves no open task behind. Events that were followed before
 * change nothing.
 */
export function followHistory(before: RunMarks, events: readonly Event[]): RunMarks {
  const lines: Lines = new Map(before.lines.map((line) => [line.tail, line]))
  const index = byId(events)
  let { lastEvent } = before
  for (const event of events) {
    if (event.id <= lastEvent) continue
    lastEvent = event.id
    follow(lines, event, index)
  }
  return { ...before, lastEvent, lines: [...lines.values()] }
}

function follow(lines: Lines, event: Event, index: ReadonlyMap<number, Event>): void {
  const { type } = event
  const line = lines.get(previousOf(event))
  const name = enteredName(event)
  if (name !== undefined) enter(lines, event, name, line)
  else if (isEnd(event)) end(lines)
  else if (type.startsWith('MapIteration')) iterate(lines, event, line)
  else if (type.startsWith('MapRun')) mapRun(lines, event, line)
  else if (type.endsWith('StateExited')) exit(lines, event, line)
  else if (OF_CONTAINER.test(type)) contain(lines, event, line)
  else if (/State(Aborted|Failed)$/.test(type)) {
    // The line stays without its state: what its container does next may name the same event as its previous.
    if (line) move(lines, line, line.tail, undefined)
  } else if (waitsForToken(event)) schedule(lines, event, line ?? unknownLine(event, index))
  else if (line) move(lines, line, event.id, afterTask(line.visit, event))
}

/** The line goes on with this event. */
function move(lines: Lines, line: Line, tail: number, visit: Visit | undefined): void {
  lines.delete(line.tail)
  const { within } = line
  lines.set(tail, { tail, ...(within !== undefined && { within }), ...(visit && { visit }) })
}

function enter(lines: Lines, event: Event, name: string, line: Line | undefined): void {
  // Branches start at the event that started their container, which goes on beside them.
  const container = line?.visit && CONTAINERS.includes(line.visit.type) ? line.visit : undefined
  const within = container ? container.entered : line?.within
  if (line && !container) lines.delete(line.tail)
  lines.set(event.id, {
    tail: event.id,
    ...(within !== undefined && { within }),
    visit: {
      entered: event.id,
      name,
      type: event.type.replace(/StateEntered$/, ''),
      ...(event.timestamp && { since: event.timestamp.getTime() }),
    },
  })
}

function exit(lines: Lines, event: Event, line: Line | undefined): void {
  const named = ({ name }: Visit) => name === event.stateExitedEventDetails?.name
  const left = line?.visit && named(line.visit) ? line : newest(lines, named)
  if (!left) return
  if (left.visit) dropInside(lines, left.visit.entered)
  move(lines, left, event.id, undefined)
}

/** Tasks are open no more, and what an attempt left behind is not where a redrive is until it goes on there. */
function end(lines: Lines): void {
  for (const line of [...lines.values()]) {
    const visit = line.visit && withoutTask(line.visit)
    lines.set(line.tail, { ...line, ...(visit && { visit }), over: true })
  }
}

function iterate(lines: Lines, event: Event, line: Line | undefined): void {
  const details =
    event.mapIterationStartedEventDetails ??
    event.mapIterationSucceededEventDetails ??
    event.mapIterationFailedEventDetails ??
    event.mapIterationAbortedEventDetails
  const map = newest(lines, ({ type, name }) => type === 'Map' && name === details?.name)
  if (event.type === 'MapIterationStarted') {
    const within = map?.visit?.entered
    lines.set(event.id, { tail: event.id, ...(within !== undefined && { within }) })
    return
  }
  if (line && line !== map) {
    if (line.visit) dropInside(lines, line.visit.entered)
    lines.delete(line.tail)
  }
  if (!map?.visit) return
  const count = event.type === 'MapIterationSucceeded' ? 'done' : 'failed'
  lines.set(map.tail, { ...map, visit: { ...map.visit, [count]: (map.visit[count] ?? 0) + 1 } })
}

function mapRun(lines: Lines, event: Event, line: Line | undefined): void {
  const map = line?.visit?.type === 'Map' ? line : newest(lines, ({ type }) => type === 'Map')
  if (!map?.visit) return
  const { mapRunArn: _, ...visit } = map.visit
  const mapRunArn = event.mapRunStartedEventDetails?.mapRunArn ?? event.mapRunRedrivenEventDetails?.mapRunArn
  move(lines, map, event.id, { ...visit, ...(mapRunArn !== undefined && { mapRunArn }) })
}

/** A Parallel or Map state starts its branches, or is done with them. */
function contain(lines: Lines, event: Event, line: Line | undefined): void {
  const [, type, what] = OF_CONTAINER.exec(event.type) ?? []
  const container = around(lines, line, type) ?? newest(lines, (visit) => visit.type === type)
  if (!container?.visit) {
    // Entered before what was read; what led to its end is over all the same.
    if (line && what !== 'Started') move(lines, line, event.id, undefined)
    return
  }
  const { visit } = container
  if (what === 'Started') {
    const total = event.mapStateStartedEventDetails?.length
    const { done: _, failed: __, ...again } = visit
    const counted = type === 'Map' ? { ...again, done: 0, ...(total !== undefined && { total }) } : again
    move(lines, container, event.id, counted)
    return
  }
  dropInside(lines, visit.entered)
  if (what === 'Aborted') lines.delete(container.tail)
  else if (what === 'Succeeded') move(lines, container, event.id, visit)
  else move(lines, container, event.id, { ...visit, failedTries: (visit.failedTries ?? 0) + 1 })
}

/** The line itself or the nearest around it whose state is of this type. */
function around(lines: Lines, line: Line | undefined, type: string | undefined): Line | undefined {
  let present = line
  for (let depth = 0; present && present.visit?.type !== type && depth < lines.size; depth += 1) {
    const { within } = present
    present = [...lines.values()].find(({ visit }) => within !== undefined && visit?.entered === within)
  }
  return present?.visit?.type === type ? present : undefined
}

function dropInside(lines: Lines, entered: number): void {
  for (const line of [...lines.values()]) {
    if (line.within !== entered) continue
    lines.delete(line.tail)
    if (line.visit) dropInside(lines, line.visit.entered)
  }
}

/** The one entered last that fits: where lines can't be told apart, any of them is as good. */
function newest(lines: Lines, fits: (visit: Visit) => boolean): Line | undefined {
  let found: Line | undefined
  for (const line of lines.values()) {
    if (!line.visit || !fits(line.visit)) continue
    if (!found?.visit || line.visit.entered > found.visit.entered) found = line
  }
  return found
}

/** For events whose state was entered before what was read. */
function unknownLine(event: Event, index: ReadonlyMap<number, Event>): Line {
  const entered = stateBefore(index, event.id)
  const name = entered?.stateEnteredEventDetails?.name ?? resourceOf(event) ?? ''
  return { tail: event.id, visit: { entered: entered?.id ?? event.id, name, type: 'Task' } }
}

function schedule(lines: Lines, event: Event, line: Line): void {
  if (line.visit) move(lines, line, event.id, { ...line.visit, task: tokenTaskOf(event) })
}

function afterTask(visit: Visit | undefined, event: Event): Visit | undefined {
  if (!visit || goesOn(event)) return visit
  const closed = withoutTask(visit)
  return FAILED_TRY.test(event.type) ? { ...closed, failedTries: (visit.failedTries ?? 0) + 1 } : closed
}

function withoutTask({ task: _, ...visit }: Visit): Visit {
  return visit
}

function tokenTaskOf(event: Event): TokenTask {
  const seconds =
    event.taskScheduledEventDetails?.timeoutInSeconds ??
    event.lambdaFunctionScheduledEventDetails?.timeoutInSeconds
  const timed = typeof seconds === 'number' && seconds < NO_TIMEOUT_SECONDS && event.timestamp
  return { event: event.id, ...(timed && { deadline: timed.getTime() + Number(seconds) * 1000 }) }
}

function resourceOf(event: Event): string | undefined {
  return event.taskScheduledEventDetails?.resource ?? event.lambdaFunctionScheduledEventDetails?.resource
}

export function waitsForToken(event: Event): boolean {
  return resourceOf(event)?.endsWith('.waitForTaskToken') === true
}

/** Whether a task that waits for its token still does after this event. */
export function goesOn({ type }: Event): boolean {
  return type === 'TaskStarted' || type === 'TaskSubmitted' || type === 'LambdaFunctionStarted'
}
