import { errorResult, isTerminal, type JsonObject, type Owner } from '@runbridge/core'
import type { InputRequired } from '../ask.js'
import { type CallAnswer, type CallRound, callTool, type ToolCall } from '../call-tool.js'
import type { Limits } from '../limits.js'
import type { CallState } from '../request-state.js'
import { underAny } from '../under-any.js'
import type { LegacyRequest } from './older-form.js'

/**
 * Answers a call whose questions are put to its client on the call's own stream: the older revisions have no
 * multi round-trip, so its rounds are driven here and its state never leaves this process.
 */
export async function callWithQuestions(
  request: LegacyRequest,
  call: Omit<ToolCall, 'round' | 'caller'>,
  caller = request.caller,
): Promise<CallAnswer> {
  const { app } = request
  let state: CallState | undefined
  let inputResponses: JsonObject = {}
  let asking = caller
  for (;;) {
    const present = state
    const round: CallRound = {
      hasState: present !== undefined,
      inputResponses,
      open: async () => {
        if (!present) throw new Error('This round has no state.')
        return present
      },
      seal: async (sealed) => {
        state = sealed
        return ''
      },
    }
    const answer = await callTool(app, { ...call, caller: asking, round })
    if (!('resultType' in answer) || answer.resultType !== 'input_required') return answer
    const taskId = state?.kind === 'run' ? state.taskId : undefined
    const asked = app.gate.question(caller.owner)
    if (!asked) {
      if (taskId === undefined) return errorResult(tooMany(app.limits))
      // The run goes on, and its caller is told how to go on with it.
      inputResponses = {}
      asking = { ...caller, signal: AbortSignal.abort() }
      continue
    }
    const late = app.clock.timeout(Math.min(app.limits.questionMs, left(request)))
    inputResponses = await underAny([late, request.caller.signal, app.closing], (over) =>
      put(request, caller.owner, (answer as InputRequired).inputRequests, taskId, over),
    ).finally(asked)
    // Who is gone, was silent for long or has no token any more is not asked again, and a server that closes asks nobody.
    if (![late, request.caller.signal, app.closing].some(({ aborted }) => aborted)) continue
    if (taskId === undefined && Object.keys(inputResponses).length === 0) return errorResult(UNANSWERED)
    asking = { ...caller, signal: AbortSignal.abort() }
  }
}

/** How long the caller's token still counts, in ms. */
function left({ app, caller: { expiresAt = Number.POSITIVE_INFINITY } }: LegacyRequest): number {
  return Math.max(0, expiresAt - app.clock.now())
}

function tooMany({ maxOpenTasks }: Limits): string {
  return `Nothing was started: ${maxOpenTasks} calls of this caller wait for an answer, the most this server allows. Call again when one has ended.`
}

const UNANSWERED = 'Nothing was started: the question was not answered in time. Call again to be asked again.'

/** Puts all of the questions. What is not answered in time, or while its gate is open, has no response. */
async function put(
  { app, session, id, gone }: LegacyRequest,
  owner: Owner,
  questions: InputRequired['inputRequests'],
  taskId: string | undefined,
  ended: AbortSignal,
): Promise<JsonObject> {
  const closed = new AbortController()
  const over = AbortSignal.any([closed.signal, ended])
  const answering = Object.entries(questions).map(async ([key, { method, params }]) => {
    const { message, requestedSchema } = params
    const elicitation = { method, params: { message, requestedSchema } }
    const response = await session.questions.put(elicitation, { request: id, gone }, over)
    return response && ([key, response] as const)
  })
  const settled = Promise.all(answering)
  if (taskId !== undefined) {
    // The gate may close without this person, and the call goes on then.
    const keys = Object.keys(questions)
    const watch = new AbortController()
    void app.service
      .wait(
        { owner, taskId },
        {
          waitMs: app.limits.questionMs,
          signal: AbortSignal.any([over, watch.signal]),
          until: (task) =>
            isTerminal(task.record.state) || !task.questions.some((each) => keys.includes(each.key)),
        },
      )
      .catch(() => undefined)
      .then(() => closed.abort())
    await settled.finally(() => watch.abort())
  }
  return Object.fromEntries((await settled).filter((each) => each !== undefined)) as JsonObject
}
