/** The bounds of one server. A call over one of them is answered with a `limit` error that names it. */
export interface Limits {
  /** Open tasks of one owner, and as many of its calls that wait for a person to answer. Default 100; at most 1000. */
  readonly maxOpenTasks: number
  /** Calls of one owner that are answered at the same time, held ones included. Default 32. */
  readonly maxCalls: number
  /** Subscriptions that one owner has open. Default 100. */
  readonly maxSubscriptions: number
  /** Subscriptions that are open on this server in all. Default 1000. */
  readonly maxSubscriptionsInAll: number
  /** The body of a request in bytes. Default 1 MiB. */
  readonly maxBodyBytes: number
  /** How long a question before the start may wait for its answer, in ms. Default 1 hour. */
  readonly questionMs: number
  /** Sessions of older revisions that one owner has open in this process; the idlest ends for a new one. Default 100. */
  readonly maxSessions: number
  /** How long a session of an older revision is kept that nobody uses, in ms. Default 1 hour. */
  readonly sessionIdleMs: number
  /** How long a question waits for a `tasks/result` before it goes out by itself, in ms. Default 5000. */
  readonly askGraceMs: number
  /** How often a held call reports progress at least, in ms. Default 5000. */
  readonly progressMs: number
  /** How often expired tasks are removed and due starts settled, in ms. Default 15,000. */
  readonly sweepMs: number
  /** How long a graceful end waits for what is under way, in ms. Default 10,000. */
  readonly drainMs: number
  /** For how long a client may keep what `tools/list` said, in ms. Default 5 minutes. */
  readonly listTtlMs: number
}

export const DEFAULT_LIMITS: Limits = {
  maxOpenTasks: 100,
  maxCalls: 32,
  maxSubscriptions: 100,
  maxSubscriptionsInAll: 1_000,
  maxBodyBytes: 1_048_576,
  questionMs: 3_600_000,
  maxSessions: 100,
  sessionIdleMs: 3_600_000,
  askGraceMs: 5_000,
  progressMs: 5_000,
  sweepMs: 15_000,
  drainMs: 10_000,
  listTtlMs: 300_000,
}
