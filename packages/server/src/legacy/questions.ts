import { randomBytes } from 'node:crypto'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server'
import {
  type InputResponse,
  parseElicitResult,
  RunbridgeError,
  type SentQuestion,
  toRunbridgeError,
} from '@runbridge/core'
import type { App } from '../app.js'
import { type Caller, canBeAsked } from '../caller.js'
import type { Session } from './session.js'

/** How often one question is sent again because its answer could not be taken. */
const MAX_TRIES = 3
/** How often the store is asked for an answer that another process may have received, in ms. */
const LOOK_MS = 1_000
/** More questions than a client has out at once; the oldest are forgotten. */
const MAX_OUT = 200

export interface Elicitation {
  readonly method: 'elicitation/create'
  readonly params: object
}

/** The stream that a question goes out on. */
interface Channel {
  /** The request whose stream it is; absent for the stream of the session itself. */
  readonly request?: RequestId
  /** Aborts when nobody reads it any more. */
  readonly gone?: AbortSignal
}

/** A response of the client, as it came in. */
interface ClientResponse {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/**
 * The elicitations of one session. Which are out is kept with the session, so that whichever process receives an
 * answer can take it; nothing waits in memory for one that belongs to a task.
 */
export interface Questions {
  /** Sends the question of a task. Its answer is delivered to the engine by whoever receives it. */
  ask(elicitation: Elicitation, task: NonNullable<SentQuestion['task']>, channel: Channel): Promise<void>
  /** Whether the question is out on a stream of this process that somebody still reads. */
  isOut(taskId: string, key: string): boolean
  /** Takes back what is out for this task and not open any more, so that nobody is shown it in vain. */
  withdraw(taskId: string, open: readonly string[]): Promise<void>
  /** Sends a question that belongs to no task and waits for its answer; undefined when `over` aborts first, which takes it back. */
  put(elicitation: Elicitation, channel: Channel, over: AbortSignal): Promise<InputResponse | undefined>
  /** Takes a response of the client; those to nothing that is out are dropped. */
  receive(response: ClientResponse, identity: Pick<Caller, 'owner' | 'scopes'>): Promise<void>
}

type Meta = Readonly<Record<string, unknown>>

interface Out {
  readonly task: NonNullable<SentQuestion['task']>
  /** What names the task in all that belongs to it, as the question itself did. */
  readonly meta: Meta | undefined
  readonly request: RequestId | undefined
  readonly alive: () => boolean
  /** Sends it again, under another id. */
  readonly again: () => Promise<void>
}

export function createQuestions(app: App, session: () => Session): Questions {
  /** What this process has sent, by the id of the request. */
  const outs = new Map<string, Out>()

  async function send(elicitation: Elicitation, question: SentQuestion, request?: RequestId): Promise<void> {
    const { state, wire } = session()
    await state.change((present) => ({
      ...present,
      questions: [...present.questions, question].slice(-MAX_OUT),
    }))
    const message = { jsonrpc: '2.0', id: question.id, ...elicitation } as unknown as JSONRPCMessage
    await wire.send(message, request)
  }

  /** Tells the client that nobody waits for the answer any more. */
  function takeBack(id: string, request: RequestId | undefined, meta?: Meta): Promise<void> {
    const params = { requestId: id, ...(meta !== undefined && { _meta: meta }) }
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params } as JSONRPCMessage
    return session().wire.send(cancelled, request)
  }

  function forget(id: string) {
    outs.delete(id)
    return session().state.change((present) => {
      const questions = present.questions.filter((question) => question.id !== id)
      return questions.length === present.questions.length ? present : { ...present, questions }
    })
  }

  async function ask(
    elicitation: Elicitation,
    task: NonNullable<SentQuestion['task']>,
    channel: Channel,
    tries = 1,
  ): Promise<void> {
    const id = questionId()
    const { request, gone } = channel
    const alive = () => (request === undefined ? session().wire.listening() : gone?.aborted !== true)
    const again = async () => {
      if (tries < MAX_TRIES && alive()) await ask(elicitation, task, channel, tries + 1)
    }
    const { _meta: meta } = elicitation.params as { readonly _meta?: Meta }
    outs.set(id, { task, meta, request, alive, again })
    const [oldest] = outs.keys()
    if (outs.size > MAX_OUT && oldest !== undefined) outs.delete(oldest)
    await send(elicitation, { id, task }, request)
  }

  /** Delivers the answer. One that can't be taken leaves the question open, and it is put again. */
  async function deliver(
    { id, task }: SentQuestion & { readonly task: NonNullable<SentQuestion['task']> },
    response: InputResponse | undefined,
    identity: Pick<Caller, 'owner' | 'scopes'>,
  ): Promise<void> {
    const key = { owner: identity.owner, taskId: task.taskId }
    const again = outs.get(id)?.again
    try {
      const record = await app.store.get(key)
      const tool = record && app.tools.get(record.tool)?.tool
      if (!canBeAsked(tool, { elicitation: session().elicitation, ...identity })) {
        throw new RunbridgeError('denied', 'The answer came from a caller that can not be asked.')
      }
      if (!response) throw new RunbridgeError('invalid_input', 'The answer is no elicitation result.')
      await app.service.answer(key, { [task.key]: response })
      await forget(id)
    } catch (thrown) {
      const { code, message } = toRunbridgeError(thrown)
      app.log.info({ taskId: task.taskId, code, reason: message }, 'an answer could not be taken')
      await forget(id)
      await again?.()
    }
  }

  return {
    ask: (elicitation, task, channel) => ask(elicitation, task, channel),

    isOut(taskId, key) {
      return [...outs.values()].some(
        ({ task, alive }) => task.taskId === taskId && task.key === key && alive(),
      )
    },

    async withdraw(taskId, open) {
      for (const [id, { task, meta, request, alive }] of [...outs]) {
        if (task.taskId !== taskId || open.includes(task.key)) continue
        outs.delete(id)
        if (alive()) await takeBack(id, request, meta)
        await forget(id)
      }
    },

    async put(elicitation, { request, gone }, over) {
      const id = questionId()
      await send(elicitation, { id }, request)
      const { state } = session()
      try {
        while (!over.aborted) {
          const question = (await state.read())?.questions.find((each) => each.id === id)
          if (!question || question.response) return question?.response
          await state.changed(LOOK_MS, over)
        }
        if (gone?.aborted !== true) await takeBack(id, request)
        return undefined
      } finally {
        await forget(id)
      }
    },

    async receive({ id, result, error }, identity) {
      const question = (await session().state.read())?.questions.find((each) => each.id === id)
      if (!question) return
      // A client that answers with an error shows nobody the question: dismissed, without a choice.
      const response = error === undefined ? parseElicitResult(result) : ({ action: 'cancel' } as const)
      if (question.task) return deliver({ ...question, task: question.task }, response, identity)
      const answer = response ?? { action: 'cancel' }
      await session().state.change((present) => ({
        ...present,
        questions: present.questions.map((each) => (each.id === id ? { ...each, response: answer } : each)),
      }))
    },
  }
}

/** Unique over all sessions and processes, since an answer may come after a restart. */
function questionId(): string {
  return `q_${randomBytes(12).toString('base64url')}`
}
