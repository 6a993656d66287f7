import { followHistory } from './follow-history.js'
import { byId, type Event, stateBefore } from './history.js'
import { NO_MARKS, type RunMarks } from './marks.js'
import { currentStates, namesOf } from './progress.js'

/**
 * The state that an attempt ended in: the one that led to its end, or else those it was in, since AWS names no event
 * before a time-out of the whole. Undefined where the events (oldest first) do not reach back to it.
 * @param before where the execution was before the events
 */
export function failingState(events: readonly Event[], end: Event, before: RunMarks = NO_MARKS) {
  const led = stateBefore(byId(events), end.id)
  if (led) return led.stateEnteredEventDetails?.name
  const until = events.filter(({ id }) => id < end.id)
  const states = currentStates(followHistory(before, until))
  return states.length === 0 ? undefined : namesOf(states)
}
