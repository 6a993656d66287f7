import {
  deleteResult,
  elicitRequest,
  getTaskResult,
  jsonRpcError,
  relatedTask,
  resultAnswer,
} from '@runbridge/core/wire/sep-1686'
import { lookAt } from './look.js'
import type { OlderForm } from './older-form.js'

/** The tasks of SEP-1686, whose ids the client makes. */
export const sep1686: OlderForm = {
  form: 'sep-1686',
  jsonRpcError,
  elicitation: elicitRequest,
  relatedTask,
  // "Progress notifications stay within the life of the initial request" (SEP-1686, "Task creation notification").
  progressAfterAnswer: false,

  get: (seen) => getTaskResult(seen.task, seen),

  async result({ app, caller }, key) {
    const seen = await lookAt(app, key, caller)
    return resultAnswer(seen.task, seen, app.resultOptions(seen.task.record))
  },

  async cancel() {
    const message = 'This task is cancelled by notifications/cancelled for the request that made it.'
    return { kind: 'error', error: { code: -32602, message, data: { reason: 'unsupported' } } }
  },

  async remove({ app }, key) {
    await app.service.delete(key)
    return { kind: 'result', result: deleteResult(key.taskId) }
  },
}
