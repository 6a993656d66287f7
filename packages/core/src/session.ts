import type { JsonObject } from './json.js'
import type { InputResponse } from './service/task-service.js'
import type { Owner, WireForm } from './task.js'

/** A question that was sent to the client of a session and is not answered yet. */
export interface SentQuestion {
  /** The id of the JSON-RPC request: unique over all sessions, so that any process knows whose answer it reads. */
  readonly id: string
  /** The question of a task; absent for one that was asked before anything started. */
  readonly task?: { readonly taskId: string; readonly key: string }
  /** What came back to a question that belongs to no task, until the call that asked takes it. */
  readonly response?: InputResponse
}

/** A call of a session that became a task and is of use to the session until that has ended. */
export interface SessionCall {
  readonly requestId: string | number
  readonly taskId: string
  readonly form: WireForm
  readonly progressToken?: string | number
  /** The client cancelled the request, so that it is not answered. */
  readonly cancelled?: true
}

/**
 * What the store keeps of a session of the older revisions (2025-11-25 basic/transports, "Session Management"),
 * so that any process can go on with it. Plain JSON. All times are ms since the epoch.
 */
export interface SessionRecord {
  /** Unguessable, since it stands for the session. */
  readonly id: string
  /** Raised by every update; the compare-and-set rests on it. Starts at 1. */
  readonly version: number
  /** The caller that made it; nobody else's request belongs to it. */
  readonly owner: Owner
  /** As negotiated. */
  readonly protocolVersion: string
  /** `clientInfo` and `capabilities` of the `initialize` request. */
  readonly clientInfo: JsonObject
  readonly capabilities: JsonObject
  readonly questions: readonly SentQuestion[]
  readonly calls: readonly SessionCall[]
  readonly createdAt: number
  /** When a request last used it, give or take a minute or so. */
  readonly seenAt: number
}

/**
 * Keeps sessions. Every method is atomic on its own and durable as far as the store is, and what one call wrote
 * every later call reads, in any process. Throws a RunbridgeError `unavailable` when the store can't be reached
 * or is closed. Ids are compared exactly.
 */
export interface SessionStore {
  /** Keeps a new session with `version` 1. `exists` leaves the present one as it is. */
  create(session: SessionRecord): Promise<'created' | 'exists'>
  get(id: string): Promise<SessionRecord | undefined>
  /** Compare-and-set: replaces the session if its version is still `session.version`, and raises that by one. */
  update(session: SessionRecord): Promise<'updated' | 'conflict' | 'missing'>
  /** True when it was there and is gone. */
  delete(id: string): Promise<boolean>
  /**
   * Removes sessions whose `seenAt` lies before the given time, and says how many.
   * @param limit how many at most, so that one sweep stays short
   */
  sweep(seenBefore: number, limit: number): Promise<number>
}

/** A task store that keeps sessions too. Without it older hosts are served without a session, and without tasks. */
export interface KeepsSessions {
  readonly sessions: SessionStore
}
