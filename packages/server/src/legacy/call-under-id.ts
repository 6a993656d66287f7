import { ProtocolError } from '@modelcontextprotocol/server'
import { RunbridgeError, type Task } from '@runbridge/core'
import { answer, createdNotification, type TaskMetadata } from '@runbridge/core/wire/sep-1686'
import type { CallAnswer, OlderAnswer, TaskMaking } from '../call-tool.js'
import { canBeAsked } from '../caller.js'
import type { CallParams } from './call.js'
import { callWithQuestions } from './call-with-questions.js'
import type { LegacyRequest } from './older-form.js'
import { progressTokenOf, taskProgress } from './progress.js'
import { retained } from './revisions.js'
import { sep1686 } from './sep-1686.js'
import { untilEnded } from './until-ended.js'

/**
 * Answers a call that is a task under an id of its client's (SEP-1686): tells that the task is there as soon as
 * its record is, and answers with the final result, however long that takes.
 */
export async function callUnderId(
  request: LegacyRequest,
  { name, args, meta }: CallParams,
  { taskId, keepAlive }: TaskMetadata,
): Promise<CallAnswer> {
  const { app, session, caller, id } = request
  const { form, relatedTask } = sep1686
  const progressToken = progressTokenOf(meta)
  let told = false

  async function tell(): Promise<void> {
    told = true
    await session.addCall({
      requestId: id,
      taskId,
      form,
      ...(progressToken !== undefined && { progressToken }),
    })
    await session.wire.send({ jsonrpc: '2.0', ...createdNotification(taskId) }, id)
  }

  const progress = progressToken !== undefined && taskProgress(app, progressToken, relatedTask)
  const report = (task: Task) => {
    const asked = canBeAsked(app.tools.get(name)?.tool, caller)
    if (progress) void session.wire.send(progress(task, asked), id)
  }

  const making: TaskMaking = {
    request: { form, taskId, idKnown: true, onRecorded: tell, ...retained(keepAlive) },
    // An id that is taken (7.1), and an end of the waiting that is not the task's.
    isError: (code) => code === 'conflict' || code === 'unavailable',
    async answer(made) {
      const other = made.record.taskId
      if (other !== taskId) {
        throw new RunbridgeError('conflict', `The same call goes on already, as task ${other}; follow that.`)
      }
      if (!told) await tell()
      const task = await untilEnded(request, sep1686, { owner: caller.owner, taskId }, report)
      const cancelled = (await session.calls()).some((each) => each.requestId === id && each.cancelled)
      await session.dropCalls(taskId)
      // A call that its client cancelled is not answered, even where another process took the cancel.
      if (cancelled) session.wire.close?.(id)
      const ended = answer(task, app.resultOptions(task.record))
      if (!ended) throw new Error(`Task ${taskId} has not ended.`)
      if (ended.kind === 'result') return { ...ended.result } satisfies OlderAnswer
      const { code, message, data } = ended.error
      throw new ProtocolError(code, message, data)
    },
  }
  return callWithQuestions(request, { name, args, making }, { ...caller, tasks: true })
}
