import type { Snapshot } from '@runbridge/core'
import { byId, type Event, enteredName, stateBefore } from './history.js'

type Progress = NonNullable<Snapshot['progress']>

const MAX_NAMED = 3
const CONTAINERS = ['MapStateEntered', 'ParallelStateEntered']
const FAILED_TRY = /^(Task|LambdaFunction|Activity)(Failed|TimedOut|StartFailed|SubmitFailed|ScheduleFailed)$/

/**
 * Where a running execution is, as far as the newest events tell (oldest first): the states that were entered and
 * not left, the tries of the newest of them, since when, and how far a Map is. Undefined when they tell nothing.
 * Times and no durations, so that the message changes only when something happened.
 */
export function progressOf(events: readonly Event[]): Progress | undefined {
  const open = openStates(events)
  const steps = open.filter((event) => !CONTAINERS.includes(event.type))
  const map = mapProgress(events, open)
  const shown = steps.length > 0 ? steps : open
  const newest = shown.at(-1)
  if (!newest) return map
  const names = [...new Set(shown.map((event) => enteredName(event) ?? ''))].reverse()
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  const since = newest.timestamp ? ` since ${newest.timestamp.toISOString().replace(/\.\d+/, '')}` : ''
  const place = `${names.slice(0, MAX_NAMED).join(', ')}${more}${retries(events, newest)}${since}`
  return { ...map, message: map ? `${map.message}: ${place}` : place }
}

/** The states that were entered and not left, in the order in which they were entered. */
function openStates(events: readonly Event[]): Event[] {
  const open: Event[] = []
  const index = byId(events)
  for (const event of events) {
    if (enteredName(event) !== undefined) open.push(event)
    const left = event.type.endsWith('StateExited') ? event.stateExitedEventDetails?.name : undefined
    if (left !== undefined) drop(open, (entered) => enteredName(entered) === left)
    if (/State(Aborted|Failed)$/.test(event.type)) {
      const kind = event.type.replace(/State(Aborted|Failed)$/, 'StateEntered')
      const aborted = stateBefore(index, event.previousEventId ?? 0)
      if (aborted?.type === kind) drop(open, (entered) => entered.id === aborted.id)
    }
  }
  return open
}

/** Removes the last one that fits: of equal names in a Map, any of them is as good. */
function drop(open: Event[], fits: (entered: Event) => boolean): void {
  const at = open.findLastIndex(fits)
  if (at >= 0) open.splice(at, 1)
}

function retries(events: readonly Event[], entered: Event): string {
  const index = byId(events)
  const failed = events.filter(
    (event) => FAILED_TRY.test(event.type) && stateBefore(index, event.id)?.id === entered.id,
  ).length
  return failed === 0 ? '' : ` (try ${failed + 1})`
}

/** The innermost Map that goes on. Its size is in its first event; without it only what ended is counted. */
function mapProgress(events: readonly Event[], open: readonly Event[]): Progress | undefined {
  const run = events.findLast((event) => event.type.startsWith('MapRun'))
  const entered = open.findLast((event) => event.type === 'MapStateEntered')
  if (!entered) return undefined
  const name = enteredName(entered) ?? ''
  const since = events.filter((event) => event.id > entered.id)
  const done = since.filter(
    (event) =>
      event.type === 'MapIterationSucceeded' && event.mapIterationSucceededEventDetails?.name === name,
  ).length
  const total = since.find((event) => event.type === 'MapStateStarted')?.mapStateStartedEventDetails?.length
  if (run && run.id > entered.id) return { message: `${name} (${words(run.type)})` }
  return total === undefined ? { message: name, done } : { message: name, done, total }
}

/** `MapRunStarted` as `map run started`. */
function words(type: string): string {
  return type.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase()
}
