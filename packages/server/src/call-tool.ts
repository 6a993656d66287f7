import { ProtocolError } from '@modelcontextprotocol/server'
import {
  type AnswerReport,
  type CreateRequest,
  digest,
  type ErrorCode,
  errorResult,
  type JsonObject,
  RunbridgeError,
  type Task,
  type ToolResult,
  toRunbridgeError,
} from '@runbridge/core'
import {
  type CreateTaskResult,
  createTaskResult,
  EXTENSION_ID,
  parseInputResponses,
} from '@runbridge/core/wire/ext-tasks'
import type { App, ServedTool } from './app.js'
import { askBefore, type InputRequired, type Round } from './ask.js'
import { callNow } from './call-now.js'
import { type Caller, canBeAsked } from './caller.js'
import { lacks } from './capability.js'
import { follow } from './follow.js'
import { FOLLOW_UPS } from './follow-up.js'
import { handleText } from './handle-text.js'
import { onAbandon } from './on-abandon.js'
import type { CallState } from './request-state.js'
import { lackedScopes, lacksScopes } from './scopes.js'
import type { Tool } from './tool.js'

export interface ToolCall {
  readonly name: string
  readonly args: JsonObject
  readonly caller: Caller
  readonly round: CallRound
  /** Absent where the call itself decides: a task of the extension for callers that have it, else none. */
  readonly making?: TaskMaking
}

/** How a call of an older form becomes a task, and what it is answered with then. */
export interface TaskMaking {
  readonly request: Pick<CreateRequest, 'form'> &
    Partial<Pick<CreateRequest, 'taskId' | 'idKnown' | 'retainMs' | 'onRecorded'>>
  readonly answer: (task: Task, tool: Tool) => Promise<OlderAnswer>
  /** Whether this error of a call without a task is one of the protocol in this form. */
  readonly isError: (code: ErrorCode) => boolean
}

/** An answer in an older form, which none but its codec reads. */
export type OlderAnswer = Readonly<Record<string, unknown>> & { readonly resultType?: never }

export interface CallRound extends Round {
  /** Whether the request carries a request state at all. */
  readonly hasState: boolean
  /** Verifies it; throws `invalid_input`. */
  readonly open: (call: { readonly tool: string; readonly call: string }) => Promise<CallState>
}

export type CallAnswer = ToolResult | CreateTaskResult | InputRequired | OlderAnswer

/** What becomes of each error of a call: words that the model can act on, or a JSON-RPC error. */
const ANSWERS: Readonly<Record<ErrorCode, 'result' | 'error'>> = {
  invalid_input: 'result',
  task_not_found: 'result',
  conflict: 'result',
  missing_capability: 'result',
  unsupported: 'result',
  misconfigured: 'result',
  workflow_not_found: 'result',
  denied: 'result',
  unauthenticated: 'result',
  throttled: 'result',
  unavailable: 'result',
  unknown_outcome: 'result',
  too_large: 'result',
  limit: 'result',
  internal: 'error',
}

/**
 * Answers `tools/call`. Errors in what the model wrote or the engine said are tool results with `isError`
 * (2026-07-28 server/tools, "Error Handling"); a bad request state and unknown tools are JSON-RPC errors.
 */
export async function callTool(app: App, call: ToolCall): Promise<CallAnswer> {
  const { name, args, caller, round } = call
  const served = app.tools.get(name)
  const own = FOLLOW_UPS.get(name)
  const followUp = own?.offered?.(app) === false ? undefined : own
  if (!served && !followUp) throw new RunbridgeError('invalid_input', `Unknown tool: ${name}`)
  // Before any answer in the request counts.
  const state = round.hasState ? await round.open({ tool: name, call: digest(args) }) : undefined
  try {
    const answer = async () => {
      if (state?.kind === 'run') return resume(app, call, state.taskId)
      if (followUp) return followUp.run(app, args, caller, round)
      return start(app, call, served as ServedTool, state)
    }
    return await app.gate.call(caller.owner, answer, followUp?.urgent)
  } catch (thrown) {
    if (served && state?.kind !== 'run') tellRefused(app, call, thrown)
    if (!(thrown instanceof RunbridgeError) || call.making?.isError(thrown.code)) throw thrown
    if (ANSWERS[thrown.code] === 'result') return errorResult(thrown.message)
    throw thrown
  }
}

/** All that starts is told by the service; a call that comes to nothing here. */
function tellRefused({ audit }: App, { name, caller }: ToolCall, thrown: unknown): void {
  const outcome = thrown instanceof ProtocolError ? 'missing_capability' : toRunbridgeError(thrown).code
  audit({ action: 'call', owner: caller.owner, tool: name, outcome })
}

async function start(
  app: App,
  call: ToolCall,
  served: ServedTool,
  state: (CallState & { kind: 'start' }) | undefined,
): Promise<CallAnswer> {
  const { tool } = served
  const { caller, round, args } = call
  const scopes = lackedScopes(tool, caller)
  if (scopes) throw new RunbridgeError('denied', `Nothing was started: ${lacksScopes(tool, scopes)}`)
  checkCapabilities(tool, caller)
  const asked = await askBefore(app, served, args, caller, round, state)
  if (asked.kind !== 'go') {
    const outcome = asked.kind === 'ask' ? 'asked' : 'invalid_input'
    app.audit({ action: 'call', owner: caller.owner, tool: tool.name, outcome })
    return asked.result
  }
  if (tool.capabilities.execution === 'call') return callNow(app, tool, asked, caller)
  const { owner } = caller
  const { taskId, runKey, input } = asked
  const request = {
    owner,
    tool: tool.name,
    form: caller.tasks ? 'ext-tasks' : 'plain',
    ...(taskId && runKey && { taskId, runKey }),
    ...call.making?.request,
  } as const
  const outcome = tool.attach
    ? await app.service.attach({ ...request, reference: String(input[tool.attach.argument]) })
    : // The client holds the sealed state, so its replay has to find whatever became of this start.
      await app.service.create({ ...request, input, idKnown: taskId !== undefined, ...call.making?.request })
  if (outcome.kind === 'refused') throw outcome.error
  const { task } = outcome
  if (call.making) return call.making.answer(task, tool)
  if (caller.tasks) return createTaskResult(task, { canBeAsked: canBeAsked(tool, caller) })
  const called = { name: call.name, args }
  const answer = await follow(app, { task, tool, caller, round, called, waitMs: tool.holdMs })
  await onAbandon(app, tool, caller, task)
  return answer
}

/** The retry of a call whose run asked a question: delivers the answers, then goes on waiting. */
async function resume(app: App, call: ToolCall, taskId: string): Promise<CallAnswer> {
  const { caller, round, args, name } = call
  const present = await app.service.get({ owner: caller.owner, taskId })
  const tool = app.tools.get(present.record.tool)?.tool
  try {
    const { task, outcomes } = await deliver(app, present, tool, call)
    const dismissed = Object.values(outcomes).includes('dismissed')
    const called = { name, args }
    const waitMs = dismissed ? 0 : (tool?.holdMs ?? 0)
    const answer = await follow(app, { task, tool, caller, round, called, waitMs, mayAsk: !dismissed })
    if (name === tool?.name) await onAbandon(app, tool, caller, task)
    return answer
  } catch (thrown) {
    if (!(thrown instanceof RunbridgeError)) throw thrown
    // This caller has not been told the task's id yet, and the run goes on.
    return errorResult(`${thrown.message}\n${handleText(app, present, tool, caller)}`)
  }
}

async function deliver(app: App, task: Task, tool: Tool | undefined, call: ToolCall): Promise<AnswerReport> {
  const { responses, malformed } = parseInputResponses(call.round.inputResponses ?? {})
  const broken = task.questions.find(({ key }) => malformed.includes(key))
  if (broken) {
    throw new RunbridgeError('invalid_input', `inputResponses.${broken.key} is no elicitation result.`)
  }
  return app.service.answer(task.record, canBeAsked(tool, call.caller) ? responses : {})
}

/** What the runs of this tool need of a caller, checked before anything starts. */
function checkCapabilities(tool: Tool, caller: Caller): void {
  if (tool.taskSupport === 'required' && !caller.tasks) {
    throw lacks(
      caller,
      'tasks',
      `${tool.name} runs only as a task, and this request does not declare the extension ${EXTENSION_ID}.`,
    )
  }
  if (tool.humanInput === 'elicitation' && tool.unanswerable === 'refuse' && !caller.elicitation) {
    throw lacks(
      caller,
      'elicitation',
      `Nothing was started: ${tool.name} waits for a person on its way, and this client did not declare elicitation in form mode. Call it from a client that supports elicitation.`,
    )
  }
}
