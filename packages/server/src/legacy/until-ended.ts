import { isTerminal, RunbridgeError, type Task, type TaskKey } from '@runbridge/core'
import { canBeAsked } from '../caller.js'
import { underAny } from '../under-any.js'
import type { LegacyRequest, OlderForm } from './older-form.js'
import { questionsToAsk } from './questions-to-ask.js'

/** The longest pause between two looks at what else is out, in ms. */
const LOOK_MS = 5_000

/**
 * Follows a task to its end on behalf of one request, and puts its questions on the stream of that request. A
 * client that leaves ends the waiting and nothing else. Throws `unavailable` then, when its token expires, and when
 * the server closes.
 */
export async function untilEnded(
  request: LegacyRequest,
  form: OlderForm,
  key: TaskKey,
  onChange: (task: Task) => void = () => {},
): Promise<Task> {
  const { caller, app } = request
  return underAny([caller.signal, app.closing], (signal) => follow(request, form, key, onChange, signal))
}

async function follow(
  request: LegacyRequest,
  form: OlderForm,
  key: TaskKey,
  onChange: (task: Task) => void,
  signal: AbortSignal,
): Promise<Task> {
  const { app, session, caller, id, gone } = request
  const left = () => (caller.expiresAt ?? Number.POSITIVE_INFINITY) - app.clock.now()
  const pick = questionsToAsk()
  for (;;) {
    const asking = ({ record, questions }: Task) => {
      const tool = app.tools.get(record.tool)?.tool
      if (!canBeAsked(tool, caller)) return []
      return pick(record, questions).filter((each) => !session.questions.isOut(key.taskId, each.key))
    }
    const task = await app.service.wait(key, {
      waitMs: Math.min(LOOK_MS, left()),
      signal,
      until: (seen) => isTerminal(seen.record.state) || asking(seen).length > 0,
      onChange,
    })
    const open = task.questions.map((question) => question.key)
    await session.questions.withdraw(key.taskId, open)
    if (isTerminal(task.record.state)) return task
    if (signal.aborted || left() <= 0) {
      const how = signal.aborted ? 'again' : 'with a new token, since that of this request has expired'
      throw new RunbridgeError('unavailable', `The task ${key.taskId} goes on; ask for it ${how}.`)
    }
    for (const question of asking(task)) {
      pick.asked(question)
      const elicitation = form.elicitation(question, key.taskId)
      await session.questions.ask(
        elicitation,
        { taskId: key.taskId, key: question.key },
        { request: id, gone },
      )
    }
  }
}
