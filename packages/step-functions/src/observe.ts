import type { GetContext, RunRef } from '@runbridge/core'
import type { Engine } from './engine.js'
import { followHistory } from './follow-history.js'
import { unreadQuestions, withQuestions } from './gates.js'
import { byId, type Event, type HistoryRead, isEnd, newestFirst, readBack } from './history.js'
import { NO_MARKS, type RunMarks } from './marks.js'
import { MAX_NESTED, nestedArn, startedNested } from './nested.js'
import type { StepFunctionsWorkflow } from './workflow.js'

/** Events a call. Progress needs only the newest; with data each can have 256 KB. */
const PAGE = { progress: 200, whole: 1000, data: 100 }

export interface Observing {
  readonly engine: Engine
  readonly workflow: StepFunctionsWorkflow
  readonly run: RunRef
  readonly context: GetContext
  /** For what only adds to what is known. */
  readonly softly: <T>(read: () => Promise<T>) => Promise<T | undefined>
}

/** What one look at the history shows. */
export interface Observed {
  readonly marks: RunMarks
  /** Where the execution was before `events`. */
  readonly before: RunMarks
  /** Oldest first, back to what was seen before or as far as it was read. */
  readonly events: readonly Event[]
  /** Whether nothing happened that was not read: no end and no redrive can have been missed. */
  readonly whole: boolean
}

/**
 * The history back to what was seen before. Gates need all of it; for progress alone the newest page does. It is
 * read without data, which can be large and has the task tokens; what needs some is read once more.
 */
export async function observe(observing: Observing, known: RunMarks | undefined): Promise<Observed> {
  const { gates, progress } = observing.context
  const last = known?.lastEvent ?? 0
  const pages: (readonly Event[])[] = []
  for await (const page of newestFirst(historyRead(observing, gates ? PAGE.whole : PAGE.progress))) {
    pages.push(page)
    if (!gates || page.some((event) => event.id <= last)) break
  }
  const events = pages.flat().reverse()
  const whole = (events[0]?.id ?? 0) <= last + 1
  const before = { ...(known ?? NO_MARKS), ...(!whole && { lines: [] }) }
  let marks = followHistory(before, events)
  if (gates) marks = await withParameters(observing, marks)
  if (progress)
    marks = await withNested(
      observing,
      marks,
      events.filter((event) => event.id > last),
    )
  return { marks, before, events, whole }
}

/** Whether these events leave the attempt running. */
export function goesOn({ events, before, whole }: Observed): boolean {
  const over = (event: Event) => isEnd(event) || event.type === 'ExecutionRedriven'
  return whole && !events.some((event) => event.id > before.lastEvent && over(event))
}

/** Whether the attempt has ended here, whatever DescribeExecution still says. */
export function hasEnded({ events }: Observed): boolean {
  const last = events.findLast((event) => isEnd(event) || event.type === 'ExecutionRedriven')
  return last !== undefined && isEnd(last)
}

export function historyRead({ engine, run, context }: Observing, pageSize: number = PAGE.whole): HistoryRead {
  return { client: engine.clients.reads, executionArn: run.id, signal: context.signal, data: false, pageSize }
}

function withData(observing: Observing, marks: RunMarks, oldest: number): Promise<Event[]> {
  const pageSize = Math.min(PAGE.data, marks.lastEvent - oldest + 1)
  const read = { ...historyRead(observing, pageSize), data: true }
  return readBack(read, (event) => event.id <= oldest)
}

async function withParameters(observing: Observing, marks: RunMarks): Promise<RunMarks> {
  const { workflow, engine } = observing
  const unread = unreadQuestions(marks, workflow)
  if (unread.length === 0) return marks
  const events = await withData(observing, marks, Math.min(...unread))
  return withQuestions(marks, byId(events), workflow, engine.warn)
}

/** Only the newest, in one call: links are of use, and none is worth a page of data. */
async function withNested(
  observing: Observing,
  marks: RunMarks,
  events: readonly Event[],
): Promise<RunMarks> {
  const near = marks.lastEvent - PAGE.data
  const started = events.filter((event) => event.id > near && startedNested(event)).slice(-MAX_NESTED)
  const oldest = started[0]
  if (!oldest) return marks
  const ids = new Set(started.map(({ id }) => id))
  const read = await observing.softly(() => withData(observing, marks, oldest.id))
  const arns = (read ?? []).flatMap((event) => (ids.has(event.id) ? (nestedArn(event) ?? []) : []))
  return { ...marks, nested: [...marks.nested, ...arns].slice(-MAX_NESTED) }
}
