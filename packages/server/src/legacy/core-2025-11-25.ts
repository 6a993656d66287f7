import { isTerminal, type TaskKey } from '@runbridge/core'
import {
  elicitRequest,
  jsonRpcError,
  outcome,
  relatedTask,
  wireStatus,
  wireTask,
} from '@runbridge/core/wire/core-2025-11-25'
import type { App } from '../app.js'
import type { OlderForm } from './older-form.js'
import type { Session } from './session.js'
import { untilEnded } from './until-ended.js'

/** The tasks of the core specification of 2025-11-25 (basic/utilities/tasks). */
export const core20251125: OlderForm = {
  form: 'core-2025-11-25',
  jsonRpcError,
  elicitation: elicitRequest,
  relatedTask,
  progressAfterAnswer: true,

  get: (seen) => wireTask(seen.task, seen),
  status: (seen) => ({ method: 'notifications/tasks/status', params: wireTask(seen.task, seen) }),

  async result(request, key) {
    const { app, caller, session } = request
    const task = await app.gate.call(caller.owner, () => untilEnded(request, core20251125, key))
    const ended = outcome(task, app.resultOptions(task.record))
    if (!ended) throw new Error(`Task ${key.taskId} has not ended.`)
    await forget(app, session, key)
    return ended
  },

  async cancel({ app, session }, key) {
    const present = await app.store.get(key)
    if (present && isTerminal(present.state)) {
      const status = wireStatus(present.state, false)
      const message = `Cannot cancel task: already in terminal status '${status}'`
      return { kind: 'error', error: { code: -32602, message, data: { reason: 'conflict' } } }
    }
    const task = await app.service.seal(key, 'Cancelled by the caller.')
    await forget(app, session, key)
    return { kind: 'result', result: wireTask(task, { canBeAsked: false }) }
  },

  async remove() {
    const message = 'Tasks of 2025-11-25 have no tasks/delete; they go when their ttl is over.'
    return { kind: 'error', error: { code: -32602, message, data: { reason: 'unsupported' } } }
  },
}

/** The session has nothing more to tell of a task whose client knows its end. No answer waits for that. */
async function forget({ log }: App, session: Session, { taskId }: TaskKey): Promise<void> {
  await session.dropCalls(taskId).catch((err: unknown) => {
    log.warn({ err, taskId }, 'a session could not forget a task that has ended')
  })
}
