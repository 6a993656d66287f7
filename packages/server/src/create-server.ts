import { setMaxListeners } from 'node:events'
import { type AuthInfo, createMcpHandler, type Transport } from '@modelcontextprotocol/server'
import {
  type Clock,
  clockOf,
  createTaskService,
  type Ids,
  type KeepsSessions,
  type Log,
  RunbridgeError,
  randomIds,
  type ServiceOptions,
  type TaskService,
  type TaskStore,
} from '@runbridge/core'
import type { App, ServedTool } from './app.js'
import { withApp } from './app-of.js'
import { audited, auditTo } from './audit.js'
import { scopeChallenge } from './auth/scope-challenge.js'
import { callGate } from './call-gate.js'
import { type Channel, serveChannel } from './channel.js'
import { checkStore } from './check-store.js'
import { FOLLOW_UPS } from './follow-up.js'
import { createFollowers } from './followers.js'
import { defaultInstructions } from './instructions.js'
import { compileSchema, schemaValidator } from './json-schema.js'
import { serveLegacy } from './legacy/serve-legacy.js'
import { createSessions, type Sessions } from './legacy/sessions.js'
import { DEFAULT_LIMITS, type Limits } from './limits.js'
import { isListen, listenOverHttp } from './listen-http.js'
import { modernServer } from './modern.js'
import { ownerOf } from './owner.js'
import { plainServer } from './plain.js'
import { refuseListen } from './refuse-listen.js'
import { requestStates } from './request-state.js'
import { resultOptions } from './result-options.js'
import { createSubscriptions } from './subscriptions.js'
import type { Tool } from './tool.js'

export interface RunbridgeOptions {
  /** As `resolveTool` makes them; their order is the order of `tools/list`. */
  readonly tools: readonly Tool[]
  /**
   * Stays the caller's: closing the server does not close it. Where it keeps no sessions, hosts of the revisions
   * before 2026-07-28 are served over HTTP without one, and without tasks.
   */
  readonly store: TaskStore & Partial<KeepsSessions>
  /** Signs the state of questions. At least 32 random bytes, the same in every process behind one address. */
  readonly requestStateKey: Uint8Array
  /** Default: the store's, where it has one, else the system's. */
  readonly clock?: Clock
  /** Default: random. */
  readonly ids?: Ids
  /** pino's loggers fit. Default: silent. */
  readonly log?: Log
  /** Told who called, answered and cancelled what: see `AuditEvent`. A child of a pino logger fits. Default: silent. */
  readonly audit?: Log
  readonly limits?: Partial<Limits>
  /**
   * Whether the process stands still between requests, as the sandbox of a Lambda function does. No call is held then,
   * `task_status` does not wait, `subscriptions/listen` is refused unless the request says for how long it may last, no
   * timer sweeps (call `service.sweep`), and hosts of the older revisions are served without sessions, and so without
   * tasks. Default false.
   */
  readonly freezes?: boolean
  /** Default `runbridge`. */
  readonly name?: string
  readonly title?: string
  /** Default `0.0.0`. */
  readonly version?: string
  /** What an agent should know about these tools as a whole. Default: how to go on with a task, in three sentences. */
  readonly instructions?: string
  /** Times of the task service, and its hook for fault tests. */
  readonly service?: Omit<
    ServiceOptions,
    'store' | 'tools' | 'clock' | 'ids' | 'log' | 'validate' | 'onRunEnd' | 'maxOpenTasks'
  >
}

export interface RequestOptions {
  /** Of a token that somebody verified. */
  readonly authInfo?: AuthInfo
  /** The body, if it was parsed already. */
  readonly parsedBody?: unknown
  /**
   * How long a `subscriptions/listen` stays open at most, in ms; it ends gracefully then. Default: as long as its client
   * wants, and not at all where the process freezes.
   */
  readonly listenMs?: number
}

export interface RunbridgeServer {
  readonly service: TaskService
  /** Answers one MCP request over Streamable HTTP. Checks neither Host nor Origin nor tokens: `serveHttp` does. */
  handler(request: Request, options?: RequestOptions): Promise<Response>
  /**
   * Serves one client over a transport that carries both directions, as owner `local`. `serveStdio` does it over
   * pipes. The server closes it.
   */
  connect(transport: Transport): Channel
  /** Why no work should be sent here now; undefined when ready. */
  unready(): Promise<string | undefined>
  /** The limits in force. */
  readonly limits: Limits
  /** Resolves when nothing is under way of what was answered: starts, deliveries, looks for subscriptions. */
  drain(): Promise<void>
  /**
   * A graceful end: new requests are refused, held calls are answered with what is known, subscriptions end,
   * starts and deliveries under way are finished. Runs go on. Idempotent.
   */
  close(): Promise<void>
}

/** How long clients may take to take their goodbye, in ms. */
const CLOSE_MS = 1_000

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} }

export function createServer(options: RunbridgeOptions): RunbridgeServer {
  const { store, clock = clockOf(options.store), ids = randomIds(), log = silent, freezes = false } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  checkStore(store, options.tools)
  const closing = new AbortController()
  // Every wait listens to it as long as it lasts.
  setMaxListeners(0, closing.signal)
  const audit = auditTo(options.audit ?? silent)
  const service = audited(
    createTaskService({
      ...options.service,
      onRunEnd({ owner, tool, taskId, sealed }) {
        audit({ action: 'end', owner, tool, taskId, outcome: sealed?.runEnd ?? 'lost' })
      },
      store,
      tools: options.tools,
      clock,
      ids,
      log,
      validate: schemaValidator(),
      maxOpenTasks: limits.maxOpenTasks,
    }),
    audit,
  )
  const instructions = options.instructions ?? defaultInstructions(options.tools)
  const tools = servedTools(options.tools)
  const app: App = {
    info: {
      name: options.name ?? 'runbridge',
      version: options.version ?? '0.0.0',
      ...(options.title !== undefined && { title: options.title }),
    },
    ...(instructions !== undefined && { instructions }),
    tools,
    service,
    store,
    clock,
    ids,
    log,
    audit,
    limits,
    states: requestStates(stateKey(options.requestStateKey), clock, limits),
    gate: callGate(limits),
    resultOptions: resultOptions(tools, log),
    freezes,
    closing: closing.signal,
  }
  const mcp = createMcpHandler(
    ({ era, requestInfo }) => (era === 'modern' ? modernServer(app, requestInfo) : plainServer(app)),
    {
      legacy: 'stateless',
      maxRequestBodySize: limits.maxBodyBytes,
      maxSubscriptions: limits.maxSubscriptionsInAll,
      onerror: ({ message }) => log.info({ reason: message }, 'a request was refused by the protocol'),
    },
  )
  const followers = createFollowers(service, clock, log)
  const subscriptions = createSubscriptions(app, followers)
  // The older forms need a store that keeps what it is given.
  const sessions =
    store.sessions && store.lacks?.update === undefined && !freezes
      ? createSessions(app, store.sessions, followers)
      : undefined
  const channels = new Set<Channel>()
  const sweeping = freezes ? undefined : sweepRegularly(app, sessions)
  let closed: Promise<void> | undefined

  async function close(): Promise<void> {
    closing.abort()
    subscriptions.closeAll()
    const answered = Promise.all([app.gate.idle(), ...[...channels].map((channel) => channel.answered())])
    await atMost(limits.drainMs, Promise.all([sweeping, answered.then(() => service.drain())]))
    // The last answers leave in the turn after their calls have ended.
    await new Promise((resolve) => setImmediate(resolve))
    // A client that reads nothing any more can't be said goodbye to.
    await atMost(
      CLOSE_MS,
      Promise.all([mcp.close(), sessions?.close(), ...[...channels].map((channel) => channel.close())]),
    )
  }

  /** Waits for the work, but no longer. A timer left running would keep the process alive. */
  async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
    const ended = new AbortController()
    await Promise.race([work, clock.sleep(ms, ended.signal)])
    ended.abort()
  }

  /** One look for all who ask at that moment: nobody is asked who they are. */
  let probing: Promise<string | undefined> | undefined
  async function probe(): Promise<string | undefined> {
    try {
      await store.get({ owner: 'readyz', taskId: 'readyz' })
      return undefined
    } catch (err) {
      log.warn({ err }, 'the store can not be reached')
      return 'The task store can not be reached.'
    }
  }

  const server: RunbridgeServer = {
    service,
    limits,
    async handler(request, { authInfo, parsedBody, listenMs } = {}) {
      if (closing.signal.aborted) return unavailable('This server is shutting down; send the request again.')
      const sent = {
        ...(authInfo && { authInfo }),
        ...(parsedBody !== undefined && { parsedBody }),
      }
      const challenge = await scopeChallenge(options.tools, request, sent, limits.maxBodyBytes)
      if (challenge) {
        audit({ action: 'call', owner: ownerOf(authInfo), tool: challenge.tool, outcome: 'denied' })
        return challenge.response
      }
      if (isListen(request)) {
        if (freezes && listenMs === undefined) return refuseListen(request, sent, limits.maxBodyBytes)
        const forward = (forwarded: Request) => mcp.fetch(forwarded, sent)
        const bounded = { ...sent, ...(listenMs !== undefined && { listenMs }) }
        return listenOverHttp(app, subscriptions, request, bounded, forward)
      }
      if (!sessions) return mcp.fetch(request, sent)
      const served = await serveLegacy(sessions, request, sent, limits.maxBodyBytes)
      return 'passed' in served ? mcp.fetch(request, served.passed) : served
    },
    connect(transport) {
      const channel = serveChannel(app, subscriptions, followers, transport)
      channels.add(channel)
      void channel.ended.then(() => channels.delete(channel))
      return channel
    },
    async unready() {
      if (closing.signal.aborted) return 'This server is shutting down.'
      probing ??= probe().finally(() => {
        probing = undefined
      })
      return probing
    },
    async drain() {
      await Promise.all([followers.stopped(), subscriptions.looked()])
      await service.drain()
    },
    close() {
      closed ??= close()
      return closed
    },
  }
  return withApp(server, app)
}

function servedTools(tools: readonly Tool[]): ReadonlyMap<string, ServedTool> {
  const served = new Map<string, ServedTool>()
  for (const tool of tools) {
    if (FOLLOW_UPS.has(tool.name) || served.has(tool.name)) {
      throw new RunbridgeError('misconfigured', `The tool name ${tool.name} is taken; rename the tool.`)
    }
    const { name, inputSchema, outputSchema } = tool
    served.set(name, {
      tool,
      validate: compileSchema(inputSchema, `The input schema of ${name}`),
      ...(outputSchema && {
        outputProblems: compileSchema(outputSchema, `The output schema of ${name}`),
      }),
    })
  }
  if (served.size === 0)
    throw new RunbridgeError('misconfigured', 'No tool is configured; name at least one.')
  return served
}

function stateKey(key: Uint8Array): Uint8Array {
  if (key.length >= 32) return key
  throw new RunbridgeError(
    'misconfigured',
    `The key for request states has ${key.length} bytes; it needs at least 32 random ones.`,
  )
}

/** Ends when the server closes. A sweep that fails is tried again at the next turn. */
async function sweepRegularly(app: App, sessions: Sessions | undefined): Promise<void> {
  const { service, clock, limits, closing, log } = app
  while (!closing.aborted) {
    await clock.sleep(limits.sweepMs, closing)
    if (closing.aborted) return
    try {
      const { removed, settled } = await service.sweep()
      if (removed + settled > 0) log.info({ removed, settled }, 'swept tasks')
      await sessions?.sweep()
    } catch (err) {
      log.warn({ err }, 'a sweep failed')
    }
  }
}

function unavailable(message: string): Response {
  const body = { jsonrpc: '2.0', id: null, error: { code: -32603, message, data: { reason: 'unavailable' } } }
  return Response.json(body, { status: 503, headers: { 'retry-after': '1' } })
}
