import type { AnswerResult, GateResponse } from '../backend.js'
import { RunbridgeError, toRunbridgeError } from '../errors.js'
import { openQuestions } from '../lifecycle.js'
import { isTerminal } from '../run.js'
import type { TaskRecord } from '../task.js'
import type { ServiceContext } from './context.js'
import type { AnswerOutcome, InputResponse, Question } from './task-service.js'

export interface Answered {
  readonly record: TaskRecord
  readonly outcomes: Readonly<Record<string, AnswerOutcome>>
}

/**
 * Delivers answers to the engine. Every known answer is validated before the first is delivered; each
 * delivery is recorded before the next, so that a failure in between loses none that was made.
 */
export async function answer(
  context: ServiceContext,
  record: TaskRecord,
  responses: Readonly<Record<string, InputResponse>>,
): Promise<Answered> {
  const questions = isTerminal(record.state) ? [] : openQuestions(record)
  const known = questions.filter(({ key }) => Object.hasOwn(responses, key))
  const wrong = known.flatMap((question) => problems(context, question, responses[question.key]))
  if (wrong.length > 0) {
    throw new RunbridgeError('invalid_input', `No answer was taken. ${wrong.join(' ')}`)
  }
  const outcomes: Record<string, AnswerOutcome> = {}
  for (const key of Object.keys(responses)) outcomes[key] = 'ignored'
  let current = record
  for (const question of known) {
    const outcome = await deliver(context, current, question, responses[question.key] as InputResponse)
    outcomes[question.key] = outcome
    const type = ({ delivered: 'answered', too_late: 'answered_late', dismissed: 'dismissed' } as const)[
      outcome
    ]
    current = (await context.apply(current, { type, key: question.key })) ?? current
  }
  return { record: current, outcomes }
}

function problems(
  context: ServiceContext,
  { key, gate }: Question,
  response: InputResponse | undefined,
): string[] {
  if (response?.action !== 'accept') return []
  return context.validate(gate.schema, response.content).map((problem) => `${key}: ${problem}.`)
}

async function deliver(
  context: ServiceContext,
  record: TaskRecord,
  { key, gate }: Question,
  response: InputResponse,
): Promise<Exclude<AnswerOutcome, 'ignored'>> {
  if (response.action === 'cancel') return 'dismissed'
  const result = await send(context, record, gate, response)
  if (result.kind === 'delivered' || result.kind === 'too_late') return result.kind
  const { code, message } = result.error
  throw new RunbridgeError(code, `The answer to ${key} could not be delivered; send it again. ${message}`, {
    cause: result.error,
  })
}

async function send(
  context: ServiceContext,
  record: TaskRecord,
  gate: Question['gate'],
  response: GateResponse,
): Promise<AnswerResult> {
  const tool = context.tool(record.tool)
  if (!tool || !record.run) {
    const message = `No tool named ${record.tool} is configured any more.`
    return { kind: 'failed', error: new RunbridgeError('misconfigured', message) }
  }
  try {
    const signal = context.within(context.requestTimeoutMs)
    const { owner } = record
    return await tool.backend.answer(tool.workflow, record.run, gate, response, { signal, owner })
  } catch (thrown) {
    return { kind: 'failed', error: toRunbridgeError(thrown) }
  }
}
