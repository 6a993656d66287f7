import type { Snapshot } from '@runbridge/core'
import { CONTAINERS } from './follow-history.js'
import type { RunMarks, Visit } from './marks.js'

type Progress = NonNullable<Snapshot['progress']>

const MAX_NAMED = 3

/** The states that are entered and not left, as they were entered; containers only where nothing inside is known. */
export function currentStates({ lines }: RunMarks): readonly Visit[] {
  const open = lines.flatMap(({ visit, over }) => (visit && !over ? [visit] : []))
  const steps = open.filter(({ type }) => !CONTAINERS.includes(type))
  return (steps.length > 0 ? steps : open).sort((a, b) => a.entered - b.entered)
}

/** The newest states by name, each once. */
export function namesOf(visits: readonly Visit[]): string {
  const names = [...new Set(visits.map(({ name }) => name))].reverse()
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return `${names.slice(0, MAX_NAMED).join(', ')}${more}`
}

/** The Map that was entered last and goes on. */
export function currentMap({ lines }: RunMarks): Visit | undefined {
  return lines
    .flatMap(({ visit, over }) => (visit?.type === 'Map' && !over ? [visit] : []))
    .reduce<Visit | undefined>((a, b) => (a && a.entered > b.entered ? a : b), undefined)
}

/**
 * Where a running execution is: the states it is in, the tries of the newest of them, since when, and how far a Map
 * is. Undefined when the history tells nothing. Times and no durations, so that the message changes only when
 * something happened.
 */
export function progressOf(marks: RunMarks): Progress | undefined {
  const shown = currentStates(marks)
  const newest = shown.at(-1)
  if (!newest) return undefined
  const { failedTries = 0, since } = newest
  const tries = failedTries === 0 ? '' : ` (try ${failedTries + 1})`
  const time = since === undefined ? '' : ` since ${new Date(since).toISOString().replace(/\.\d+/, '')}`
  const map = currentMap(marks)
  const failed = map?.failed ? ` (${map.failed} failed)` : ''
  const inside = map && map !== newest ? `${map.name}${failed}: ` : ''
  const message = `${inside}${namesOf(shown)}${inside === '' ? failed : ''}${tries}${time}`
  return { message, ...countsOf(map) }
}

/** What ended, whether well or not, of how many. */
function countsOf(map: Visit | undefined): Pick<Progress, 'done' | 'total'> {
  // A distributed Map has none in the history, and its length there is 0.
  if (map?.done === undefined || (map.mapRunArn !== undefined && map.total === 0)) return {}
  const done = map.done + (map.failed ?? 0)
  return map.total === undefined ? { done } : { done, total: map.total }
}
