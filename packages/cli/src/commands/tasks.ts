import type { TaskEnabledSession, TaskView } from '@modelcontextprotocol/ext-tasks/client'
import { isJsonObject, RunbridgeError } from '@runbridge/core'
import type { ConnectOptions } from '../client/connect.js'
import { resultParts } from '../client/run-tool.js'
import { withSession } from '../client/with-session.js'
import { readArguments } from './call.js'
import { EXIT } from './exit.js'
import type { Io } from './io.js'

export interface AnswerOptions {
  /** Which question, where more than one is open. */
  readonly key?: string
  /** The answer as JSON text. */
  readonly accept?: string
  readonly decline?: boolean
}

/** The state of a task, its open questions, its result. */
export function getTask(url: string, id: string, io: Io): Promise<number> {
  return withSession(url, SEES_QUESTIONS, async (session) => {
    const view = await session.task(id as TaskId).snapshot()
    showTask(view, io)
    const ended = resultParts(view.raw.result ?? {})
    return view.status === 'failed' || view.status === 'cancelled' || ended.isError ? EXIT.failed : EXIT.ok
  })
}

/** Answers an open question of a task. */
export function answerTask(url: string, id: string, options: AnswerOptions, io: Io): Promise<number> {
  if ((options.accept === undefined) === (options.decline !== true)) {
    throw new RunbridgeError('invalid_input', 'Say --accept JSON or --decline.')
  }
  return withSession(url, SEES_QUESTIONS, async (session) => {
    const task = session.task(id as TaskId)
    const questions = questionsOf(await task.snapshot()).map(([key]) => key)
    const key = options.key ?? (questions.length === 1 ? questions[0] : undefined)
    if (key === undefined) {
      const known = questions.length === 0 ? 'none is open' : `--key is one of ${questions.join(', ')}`
      throw new RunbridgeError('invalid_input', `Say which question is answered: ${known}.`)
    }
    const answer =
      options.accept === undefined
        ? { action: 'decline' as const }
        : { action: 'accept' as const, content: readArguments(options.accept) }
    await task.updateJson({ [key]: answer })
    showTask(await task.snapshot(), io)
    return EXIT.ok
  })
}

/** Asks for a task to be stopped. The engine decides: `tasks get` tells. */
export function cancelTask(url: string, id: string, io: Io): Promise<number> {
  return withSession(url, {}, async (session) => {
    const task = session.task(id as TaskId)
    await task.cancel()
    showTask(await task.snapshot(), io)
    return EXIT.ok
  })
}

type TaskId = Parameters<TaskEnabledSession['task']>[0]

/** Shown only to clients that can answer, so this one says that it can, and puts none to anybody. */
const SEES_QUESTIONS: ConnectOptions = { onQuestion: async () => ({ action: 'cancel' }) }

function showTask(view: TaskView, io: Io): void {
  io.out(`${view.status}  ${view.statusMessage ?? ''}`)
  for (const [key, question] of questionsOf(view)) io.out(`question ${key}: ${question}`)
  for (const text of resultParts(view.raw.result ?? {}).texts) io.out(text)
}

/** The open questions as the extension carries them: `inputRequests` by key, each an elicitation. */
function questionsOf(view: TaskView): [key: string, message: string][] {
  const requests: unknown = view.raw.inputRequests
  if (!isJsonObject(requests)) return []
  return Object.entries(requests).map(([key, request]) => {
    const params = isJsonObject(request) ? request.params : undefined
    return [key, isJsonObject(params) ? String(params.message) : '']
  })
}
