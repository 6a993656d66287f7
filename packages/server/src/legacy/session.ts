import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server'
import type { SessionCall, SessionRecord } from '@runbridge/core'
import type { App } from '../app.js'
import { type Caller, declared } from '../caller.js'
import { createQuestions, type Questions } from './questions.js'
import type { SessionState } from './session-state.js'

/** As many as one owner can have open; the oldest are forgotten. A session lives as long as it is used. */
const MAX_CALLS = 1_000

/** How messages leave to the client of a session. */
interface Wire {
  /** @param request whose stream carries it; without one it goes out on the stream of the session itself */
  send(message: JSONRPCMessage, request?: RequestId): Promise<void>
  /** Whether somebody reads the stream of the session itself at this moment. */
  listening(): boolean
  /** Ends the stream of a request that gets no answer, where it has one of its own. */
  close?(request: RequestId): void
}

/** One client of an older revision, however it is connected, as far as its requests share something. */
export interface Session {
  readonly protocolVersion: string
  /** Declared elicitation in form mode when it began. */
  readonly elicitation: boolean
  /** Whether its caller can be told from all others, so that it may be shown a list of its tasks. */
  readonly identified: boolean
  /** The owner, and what its last request was allowed. */
  identity: Pick<Caller, 'owner' | 'scopes'>
  readonly state: SessionState
  readonly wire: Wire
  readonly questions: Questions
  /** Remembers a call that became a task. */
  addCall(call: SessionCall): Promise<void>
  /** Forgets the calls of a task that has ended. */
  dropCalls(taskId: string): Promise<void>
  calls(): Promise<readonly SessionCall[]>
  /** Called with every call that is remembered from now on. */
  onCall: (call: SessionCall) => void
}

export interface SessionOptions {
  readonly record: SessionRecord
  readonly state: SessionState
  readonly wire: Wire
  readonly identified: boolean
}

export function createSession(app: App, options: SessionOptions): Session {
  const { record, state, wire, identified } = options
  const session: Session = {
    protocolVersion: record.protocolVersion,
    elicitation: declared(record.capabilities).elicitation,
    identified,
    identity: { owner: record.owner },
    state,
    wire,
    questions: createQuestions(app, () => session),
    async addCall(call) {
      await state.change((present) => ({
        ...present,
        calls: [...present.calls, call].slice(-MAX_CALLS),
      }))
      session.onCall(call)
    },
    async dropCalls(taskId) {
      await state.change((present) => {
        const calls = present.calls.filter((call) => call.taskId !== taskId)
        const questions = present.questions.filter(({ task }) => task?.taskId !== taskId)
        const same = calls.length === present.calls.length && questions.length === present.questions.length
        return same ? present : { ...present, calls, questions }
      })
    },
    async calls() {
      return (await state.read())?.calls ?? []
    },
    onCall: () => {},
  }
  return session
}
