import {
  digest,
  errorResult,
  fillTemplate,
  type InputResponse,
  type JsonObject,
  oneLine,
  type ToolResult,
} from '@runbridge/core'
import { type ElicitRequest, elicitRequest, parseInputResponses } from '@runbridge/core/wire/ext-tasks'
import type { App, ServedTool } from './app.js'
import type { Caller } from './caller.js'
import { lacks } from './capability.js'
import { elicitableSchema, form } from './elicitable.js'
import type { CallState } from './request-state.js'
import { argumentSchema, type Tool } from './tool.js'

/** `InputRequiredResult` (2026-07-28 basic/patterns/mrtr). */
export interface InputRequired {
  readonly resultType: 'input_required'
  readonly inputRequests: Readonly<Record<string, ElicitRequest>>
  readonly requestState: string
}

/** One round of a call: what a retry brings, and how a question leaves. */
export interface Round {
  readonly inputResponses: unknown
  readonly seal: (state: CallState) => Promise<string>
}

export type Asked =
  | { readonly kind: 'ask'; readonly result: InputRequired }
  /** Nothing starts, and why. */
  | { readonly kind: 'refuse'; readonly result: ToolResult }
  | { readonly kind: 'go'; readonly input: JsonObject; readonly taskId?: string; readonly runKey?: string }

/**
 * Gathers what must be known before anything starts: required arguments that are missing, then the
 * confirmation, which is asked only of a call that could start. Without a verified state no answer counts.
 */
export async function askBefore(
  app: App,
  served: ServedTool,
  args: JsonObject,
  caller: Caller,
  round: Round,
  state: (CallState & { kind: 'start' }) | undefined,
): Promise<Asked> {
  const { tool, validate } = served
  const answers = answersOf(round, state)
  const refusal = refused(tool, answers)
  if (refusal) return { kind: 'refuse', result: refusal }
  const filled = { ...state?.filled, ...answered(tool, answers) }
  const input = { ...filled, ...args }
  const missing = Object.entries(tool.askFor ?? {}).filter(([name]) => !Object.hasOwn(input, name))
  if (missing.length > 0 && caller.elicitation) {
    const questions = missing.map(([name, ask]) => {
      const schema = elicitableSchema(argumentSchema(tool, name)) ?? { type: 'string' }
      return [ask.key ?? name, elicitRequest(ask.message, form({ [name]: schema }, [name]))] as const
    })
    return put(app, tool, args, round, state, filled, Object.fromEntries(questions))
  }
  const problems = validate(input)
  if (problems.length > 0) return { kind: 'refuse', result: errorResult(invalidArguments(tool, problems)) }
  if (tool.confirm && answers[confirmKey(tool)] === undefined) {
    if (!caller.elicitation) throw lacks(caller, 'elicitation', cannotConfirm(tool))
    const message = fillTemplate(tool.confirm.message, input, (value) => oneLine(value, MAX_SHOWN_BYTES))
    return put(app, tool, args, round, state, filled, { [confirmKey(tool)]: elicitRequest(message, CONFIRM) })
  }
  return { kind: 'go', input, ...(state && { taskId: state.taskId, runKey: state.runKey }) }
}

/** Of one argument in a question: a model wrote it, and what it says must not read as the question going on. */
const MAX_SHOWN_BYTES = 1_000

const CONFIRM = form(
  { confirm: { type: 'boolean', title: 'Start it', description: 'Nothing starts without.' } },
  ['confirm'],
)

function confirmKey(tool: Tool): string {
  return tool.confirm?.key ?? 'confirm'
}

function answersOf(
  round: Round,
  state: (CallState & { kind: 'start' }) | undefined,
): Record<string, InputResponse> {
  if (!state) return {}
  const { responses } = parseInputResponses(round.inputResponses ?? {})
  return Object.fromEntries(Object.entries(responses).filter(([key]) => state.asked.includes(key)))
}

/** Why nothing starts, if the person said so. */
function refused(tool: Tool, answers: Record<string, InputResponse>): ToolResult | undefined {
  for (const [key, response] of Object.entries(answers)) {
    if (response.action === 'decline')
      return errorResult(`Nothing was started: the person declined (${key}).`)
    if (response.action === 'cancel') {
      return errorResult(`Nothing was started: the question was dismissed (${key}). Call again to ask again.`)
    }
    if (tool.confirm && key === confirmKey(tool) && response.content.confirm !== true) {
      return errorResult('Nothing was started: the person did not confirm.')
    }
  }
  return undefined
}

function answered(tool: Tool, answers: Record<string, InputResponse>): JsonObject {
  const entries = Object.entries(tool.askFor ?? {}).flatMap(([name, ask]) => {
    const response = answers[ask.key ?? name]
    const value = response?.action === 'accept' ? response.content[name] : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(entries)
}

/** Puts questions. The task id and run key are chosen with the first and kept through all rounds. */
async function put(
  app: App,
  tool: Tool,
  args: JsonObject,
  round: Round,
  state: (CallState & { kind: 'start' }) | undefined,
  filled: JsonObject,
  inputRequests: Record<string, ElicitRequest>,
): Promise<Asked> {
  const requestState = await round.seal({
    kind: 'start',
    tool: tool.name,
    call: digest(args),
    taskId: state?.taskId ?? app.ids.taskId(),
    runKey: state?.runKey ?? app.ids.runKey(),
    asked: Object.keys(inputRequests),
    filled,
    // Never longer than the task itself would be kept, so that a replay always finds it.
    expiresAt: app.clock.now() + Math.min(app.limits.questionMs, tool.retainMs),
  })
  return { kind: 'ask', result: { resultType: 'input_required', inputRequests, requestState } }
}

function invalidArguments(tool: Tool, problems: readonly string[]): string {
  return `Nothing was started: the arguments of ${tool.name} do not fit its schema. ${problems.join('; ')}.`
}

function cannotConfirm(tool: Tool): string {
  return `Nothing was started: ${tool.name} asks a person to confirm before it starts, and this client did not declare elicitation in form mode. Call it from a client that supports elicitation.`
}
