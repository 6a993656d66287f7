import { type Log, RunbridgeError } from '@runbridge/core'
import type { Hono } from 'hono'
import * as z from 'zod'
import { appOf } from './app-of.js'
import type { BearerAuth } from './auth/bearer-auth.js'
import type { RunbridgeServer } from './create-server.js'
import {
  addressOf,
  type HttpEvent,
  type HttpResult,
  parseHttpEvent,
  stagePrefix,
  toRequest,
  toResult,
} from './lambda/http-event.js'
import { iamAuth } from './lambda/iam-auth.js'
import { awsLambda, type StreamingHandler, writeResponse } from './lambda/response-stream.js'
import { type RoutesOptions, routes } from './routes.js'
import type { Tool } from './tool.js'

export type { HttpResult } from './lambda/http-event.js'
export type { StreamingHandler } from './lambda/response-stream.js'

/** What HTTP requests come through. Both send payload format 2.0; API Gateway gives up on an answer after 30 s. */
export const FRONTS = ['function-url', 'api-gateway'] as const
export type Front = (typeof FRONTS)[number]

/** Takes one kind of event beside requests, such as status changes; resolves to false for any other. */
export type EventTaker = (event: unknown) => Promise<boolean>

export interface LambdaOptions extends Pick<RoutesOptions, 'allowedHosts' | 'allowedOrigins' | 'routes'> {
  /** Made with `freezes: true`. */
  readonly server: RunbridgeServer
  /** Those of the server. */
  readonly tools: readonly Tool[]
  /**
   * How callers are known. `iam`: AWS has verified them (AuthType AWS_IAM, or the IAM authorizer). Else by tokens;
   * called once for each address that AWS routes requests by, which nobody knows before the first deployment: scheme,
   * host, and the stage of API Gateway that the path begins with.
   */
  readonly auth: 'iam' | ((address: string) => BearerAuth)
  /** Default `function-url`. */
  readonly front?: Front
  /** Default none. */
  readonly events?: readonly EventTaker[]
  /** Default: silent. */
  readonly log?: Log
}

export interface StreamingLambdaOptions extends LambdaOptions {
  /**
   * How long a `subscriptions/listen` stays open, in ms: it holds a sandbox and is billed, also after its client went
   * away, which nobody tells. At the latest it ends 5 s before the function's timeout. Default 60,000.
   */
  readonly longestListenMs?: number
}

/** An event of a schedule of EventBridge, or what the schedule was told to send. */
const sweepEvent = z.union([
  z.looseObject({ source: z.literal('aws.events'), 'detail-type': z.literal('Scheduled Event') }),
  z.looseObject({ runbridge: z.literal('sweep') }),
])

/** A sweep handles a bounded number of records; a backlog is worked off within one invocation, if that is enough. */
const MOST_SWEEPS = 20

const LONGEST_LISTEN_MS = 60_000
/** What remains before the timeout for the last look of a listen, in ms. */
const LISTEN_MARGIN_MS = 5_000
/** When every other answer is given up, in ms before the timeout: a sandbox that runs into it is lost. */
const CUT_MARGIN_MS = 1_000

/**
 * The handler of a Lambda function: requests of Function URLs and HTTP APIs, a schedule that sweeps, and the events
 * that `events` take. All that an invocation began has ended when it resolves, since the sandbox stands still after
 * it. Throws `misconfigured` for tools that can't be served so; the handler throws for events that nobody takes and
 * when a sweep fails, so that Lambda retries and then hands them to a dead-letter queue.
 */
export function lambdaHandler(options: LambdaOptions): (event: unknown) => Promise<HttpResult | undefined> {
  const { server } = options
  const invoke = invocations(options)
  return async (event) => {
    try {
      const response = await invoke(event)
      return response && (await toResult(response))
    } finally {
      await server.drain()
    }
  }
}

/**
 * The same for a Function URL with InvokeMode RESPONSE_STREAM: answers leave as they are made, and `subscriptions/listen`
 * is served until `longestListenMs` or the timeout is near. It ends gracefully then, and its client asks again. Throws
 * `misconfigured` outside of a Node.js runtime of Lambda and for `api-gateway` too: HTTP APIs do not stream.
 */
export function streamingLambdaHandler(options: StreamingLambdaOptions): StreamingHandler {
  const { server, front, longestListenMs = LONGEST_LISTEN_MS } = options
  if (front === 'api-gateway') throw new RunbridgeError('misconfigured', NO_STREAMS)
  const { clock } = appOf(server)
  const invoke = invocations(options)
  return awsLambda().streamifyResponse(async (event, stream, context) => {
    // As for handlers that return their answer: nothing is under way then that the next invocation has to wait for.
    context.callbackWaitsForEmptyEventLoop = false
    const leftMs = context.getRemainingTimeInMillis()
    const cut = new AbortController()
    const done = new AbortController()
    void clock.sleep(Math.max(leftMs - CUT_MARGIN_MS, 0), done.signal).then(() => cut.abort())
    try {
      const response = await invoke(event, Math.max(Math.min(longestListenMs, leftMs - LISTEN_MARGIN_MS), 0))
      if (response) await writeResponse(response, stream, cut.signal)
      else stream.write('null')
    } finally {
      done.abort()
      await server.drain()
    }
    stream.end()
  })
}

const NO_STREAMS =
  'HTTP APIs of API Gateway do not stream answers: turn `streaming` off, or serve behind a Function URL.'

/** What a request asks for, and for how long it may listen, in ms. */
interface Asked {
  readonly event: HttpEvent
  readonly listenMs: number | undefined
}

/** What is common to both handlers: answers a request, or does what another event is for and answers nothing. */
function invocations(
  options: LambdaOptions,
): (event: unknown, listenMs?: number) => Promise<Response | undefined> {
  const { server, events = [], front = 'function-url', log } = options
  checkTools(options)
  const askedBy = new WeakMap<Request, Asked>()
  const fronts = new Map<string, Hono>()

  function frontOf(event: HttpEvent): Hono {
    const address = addressOf(event)
    const present = fronts.get(address)
    if (present) return present
    const { allowedHosts = [], allowedOrigins, routes: own } = options
    const auth =
      options.auth === 'iam' ? iamAuth((request) => askedBy.get(request)?.event) : options.auth(address)
    if (stagePrefix(event) !== '') checkStage(address, auth)
    const made = routes({
      server,
      auth,
      allowedHosts: [new URL(address).hostname, ...allowedHosts],
      ...(allowedOrigins && { allowedOrigins }),
      ...(own && { routes: own }),
      listenMs: (request) => askedBy.get(request)?.listenMs,
    })
    fronts.set(address, made)
    return made
  }

  async function responseTo(event: HttpEvent, listenMs: number | undefined): Promise<Response> {
    let request: Request
    try {
      request = toRequest(event)
    } catch (thrown) {
      // No failure of the function, which would ring an alarm for whatever somebody sends.
      return new Response(`This request can not be read: ${(thrown as Error).message}`, { status: 400 })
    }
    askedBy.set(request, { event, listenMs })
    const response = await frontOf(event).fetch(request)
    return front === 'api-gateway' ? withCopiedChallenge(response) : response
  }

  async function sweep(): Promise<void> {
    const all = { removed: 0, settled: 0 }
    for (let turn = 0; turn < MOST_SWEEPS; turn++) {
      const { removed, settled } = await server.service.sweep()
      all.removed += removed
      all.settled += settled
      if (removed === 0) break
    }
    if (all.removed + all.settled > 0) log?.info(all, 'swept tasks')
  }

  async function take(event: unknown): Promise<void> {
    if (sweepEvent.safeParse(event).success) return sweep()
    for (const taker of events) if (await taker(event)) return
    throw new RunbridgeError(
      'invalid_input',
      'This event is no HTTP request of payload format 2.0, no schedule and no status change of a configured workflow. Check what invokes the function.',
    )
  }

  return async (event, listenMs) => {
    const request = parseHttpEvent(event)
    if (request) return responseTo(request, listenMs)
    await take(event)
    return undefined
  }
}

function checkTools({ tools, front = 'function-url', auth }: LambdaOptions): void {
  const problems = tools.flatMap(({ name, capabilities, scopes = [] }) => [
    ...(front === 'api-gateway' && capabilities.execution === 'call'
      ? [
          `${name}: an Express state machine is answered within the call, which may take five minutes, and API Gateway gives up after 30 s. Serve it behind a Function URL.`,
        ]
      : []),
    ...(auth === 'iam' && scopes.length > 0
      ? [`${name}: \`scopes\` are of tokens, and callers known by IAM send none. Write policies instead.`]
      : []),
  ])
  if (problems.length > 0) throw new RunbridgeError('misconfigured', problems.join('\n'))
}

/**
 * Of a resource `https://HOST/STAGE/mcp` the metadata is at `https://HOST/.well-known/oauth-protected-resource/STAGE/mcp`
 * (RFC 9728, 3.1), and no stage but `$default` serves that path.
 */
function checkStage(address: string, { resourceUrl, metadataPaths }: BearerAuth): void {
  if (metadataPaths.length === 0 || !resourceUrl?.href.startsWith(`${address}/`)) return
  throw new RunbridgeError(
    'misconfigured',
    `Clients look for the authorization server of ${resourceUrl.href} at the root of its host, which a named stage does not serve. Use the stage $default, or a domain of your own that is mapped to the stage without a path and named in \`resourceUrl\`.`,
  )
}

/** What parameter mapping of API Gateway may read, unlike the name that it gives to `WWW-Authenticate` itself. */
const CHALLENGE_HEADER = 'runbridge-challenge'

function withCopiedChallenge(response: Response): Response {
  const challenge = response.headers.get('www-authenticate')
  if (challenge !== null) response.headers.set(CHALLENGE_HEADER, challenge)
  return response
}
