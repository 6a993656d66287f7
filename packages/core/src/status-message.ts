import { lostText, sealedText } from './result.js'
import type { RunState } from './run.js'
import { isTerminal } from './run.js'
import type { Question, Task } from './service/task-service.js'
import type { TaskRecord } from './task.js'
import { oneLine, quoted } from './text.js'

export interface Audience {
  /** Whether the open questions of this task can be put to the caller on this request. */
  readonly canBeAsked: boolean
}

const STATES: Record<RunState, (task: TaskRecord) => string> = {
  starting: () => 'The run is being started.',
  queued: (task) => `The run waits to be executed${native(task)}.`,
  running: (task) => `The run goes on${native(task)}.`,
  waiting: (task) => `The run goes on${native(task)}.`,
  succeeded: () => 'The run succeeded.',
  failed: (task) => failureLine('The run failed', task),
  timed_out: (task) => failureLine('The run timed out', task),
  cancelled: (task) => (task.sealed ? sealedText(task) : 'The run was cancelled.'),
  lost: (task) => lostText(task),
}

/**
 * A task's state in a sentence or a few, for people and models alike. Words of the run are quoted. It says
 * only what is known: an outage is told as an outage, not as an end.
 */
export function statusMessage(task: Task, audience: Audience): string {
  const { record, questions } = task
  if (isTerminal(record.state)) return join(STATES[record.state](record), record.note)
  return join(
    STATES[record.state](record),
    progress(record, questions),
    questions.length > 0 && waiting(questions, record, audience),
    record.unreadable &&
      `Not readable since ${time(record.unreadable.since)}: ${oneLine(record.unreadable.reason)} This says nothing about the run itself.`,
    record.cancel && wish(record),
    record.note,
  )
}

function join(...sentences: (string | false | undefined)[]): string {
  return sentences
    .filter((sentence) => sentence !== false && sentence !== undefined && sentence !== '')
    .join(' ')
}

function native(task: TaskRecord): string {
  const word = task.snapshot?.nativeState
  return word === undefined ? '' : ` (${oneLine(word, 60)})`
}

/** Where the run is, unless that is to ask what is asked anyway. */
function progress({ snapshot }: TaskRecord, questions: readonly Question[]): string | undefined {
  if (!snapshot?.progress) return undefined
  const { message, done, total } = snapshot.progress
  if (questions.some(({ gate }) => gate.prompt !== '' && message.includes(gate.prompt))) return undefined
  const count = done === undefined ? '' : total === undefined ? ` (${done} done)` : ` (${done} of ${total})`
  const step = message === '' ? '' : quoted(message)
  return step === '' && count === '' ? undefined : `Now at: ${`${step}${count}`.trim()}.`
}

function waiting(questions: readonly Question[], task: TaskRecord, audience: Audience): string {
  const asked = questions
    .map(({ gate }) => `${quoted(gate.step, 100)} asks ${quoted(gate.prompt)}`)
    .join('; ')
  if (audience.canBeAsked) return `Waits for an answer: ${asked}.`
  const link = task.snapshot?.links[0]
  const where = link ? `at ${oneLine(link.url, 2000)}` : 'in the engine'
  return `Waits for a person: ${asked}. This caller can not be asked; somebody has to answer ${where}, or through a client that supports elicitation.`
}

function wish({ cancel }: TaskRecord): string {
  if (!cancel) return ''
  const told =
    cancel.sentAt === undefined
      ? 'the engine has not been reached yet'
      : `the engine has been told${cancel.escalations ? ' again, to stop by force,' : ''} and has not stopped yet`
  return `Asked to stop at ${time(cancel.requestedAt)}; ${told}.`
}

function failureLine(what: string, task: TaskRecord): string {
  const error = task.snapshot?.error
  if (!error) return task.failure?.message ?? `${what}.`
  const step = error.step === undefined ? '' : ` at step ${quoted(error.step, 100)}`
  return `${what}${step} with ${quoted(error.code, 100)}.`
}

function time(ms: number): string {
  return new Date(ms).toISOString()
}
