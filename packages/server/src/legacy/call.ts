import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { JsonObject } from '@runbridge/core'
import { parseTaskMetadata as parse2025 } from '@runbridge/core/wire/core-2025-11-25'
import { parseTaskMetadata as parse1686 } from '@runbridge/core/wire/sep-1686'
import type { CallAnswer } from '../call-tool.js'
import { FOLLOW_UPS } from '../follow-up.js'
import { callAsTask } from './call-as-task.js'
import { callUnderId } from './call-under-id.js'
import { callWithQuestions } from './call-with-questions.js'
import type { LegacyRequest } from './older-form.js'
import { TASKS_REVISION } from './revisions.js'

export interface CallParams {
  readonly name: string
  readonly args: JsonObject
  /** `params.task` and `params._meta`, as they came in. */
  readonly task: unknown
  readonly meta: unknown
}

/** Answers `tools/call` of a session: as a task of 2025-11-25, as one of SEP-1686, or plainly. */
export async function call(request: LegacyRequest, params: CallParams): Promise<CallAnswer> {
  const { app, session } = request
  const { name, args } = params
  const tool = app.tools.get(name)?.tool
  // Other revisions have not declared tasks, so that the parameter means nothing there ("Task Support and Handling").
  const wanted = session.protocolVersion === TASKS_REVISION ? parse2025(params.task) : undefined
  if (wanted && (tool || FOLLOW_UPS.has(name))) {
    if (tool && tool.taskSupport !== 'forbidden') return callAsTask(request, params, wanted)
    const message = `${name} does not run as a task; call it without the parameter task.`
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, message)
  }
  // Metadata on what is no task by this form is ignored (SEP-1686, 4.1).
  const metadata = tool && tool.taskSupport !== 'forbidden' ? parse1686(params.meta) : undefined
  return metadata ? callUnderId(request, params, metadata) : callWithQuestions(request, { name, args })
}
