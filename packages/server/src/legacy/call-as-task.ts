import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { ToolResult } from '@runbridge/core'
import { createTaskResult } from '@runbridge/core/wire/core-2025-11-25'
import type { CallAnswer, OlderAnswer } from '../call-tool.js'
import { canBeAsked } from '../caller.js'
import type { CallParams } from './call.js'
import { callWithQuestions } from './call-with-questions.js'
import { core20251125 } from './core-2025-11-25.js'
import type { LegacyRequest } from './older-form.js'
import { progressTokenOf } from './progress.js'
import { retained } from './revisions.js'

/**
 * Answers a task-augmented call with its handle, whatever becomes of the start. A call that is not accepted, such
 * as one whose arguments do not fit, is an error of the protocol: its client expects a task and nothing else.
 */
export async function callAsTask(
  request: LegacyRequest,
  { name, args, meta }: CallParams,
  { ttl }: { readonly ttl?: number },
): Promise<CallAnswer> {
  const { app, session, caller, id } = request
  const progressToken = progressTokenOf(meta)
  const { form } = core20251125
  const answer = await callWithQuestions(
    request,
    {
      name,
      args,
      making: {
        request: { form, idKnown: true, ...retained(ttl) },
        isError: () => true,
        async answer(task, tool) {
          const { taskId } = task.record
          const progress = progressToken !== undefined && { progressToken }
          // It runs by now, so that its id has to leave, whether or not there will be news of it.
          await session.addCall({ requestId: id, taskId, form, ...progress }).catch((err: unknown) => {
            app.log.warn({ err, taskId }, 'a session does not know its task, and will tell no news of it')
          })
          const result = createTaskResult(task, { canBeAsked: canBeAsked(tool, caller) })
          return { ...result } satisfies OlderAnswer
        },
      },
    },
    { ...caller, tasks: true },
  )
  if ('task' in answer) return answer
  const [first] = (answer as ToolResult).content
  const message = first?.type === 'text' ? first.text : `${name} was not accepted as a task.`
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}
