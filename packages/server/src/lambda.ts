import { type Log, RunbridgeError } from '@runbridge/core'
import type { Hono } from 'hono'
import * as z from 'zod'
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
import { type RoutesOptions, routes } from './routes.js'
import type { Tool } from './tool.js'

export type { HttpResult } from './lambda/http-event.js'

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

/** An event of a schedule of EventBridge, or what the schedule was told to send. */
const sweepEvent = z.union([
  z.looseObject({ source: z.literal('aws.events'), 'detail-type': z.literal('Scheduled Event') }),
  z.looseObject({ runbridge: z.literal('sweep') }),
])

/** A sweep handles a bounded number of records; a backlog is worked off within one invocation, if that is enough. */
const MOST_SWEEPS = 20

/**
 * The handler of a Lambda function: requests of Function URLs and HTTP APIs, a schedule that sweeps, and the events
 * that `events` take. All that an invocation began has ended when it resolves, since the sandbox stands still after
 * it. Throws `misconfigured` for tools that can't be served so; the handler throws for events that nobody takes and
 * when a sweep fails, so that Lambda retries and then hands them to a dead-letter queue.
 */
export function lambdaHandler(options: LambdaOptions): (event: unknown) => Promise<HttpResult | undefined> {
  const { server, events = [], front = 'function-url', log } = options
  checkTools(options)
  const eventOf = new WeakMap<Request, HttpEvent>()
  const fronts = new Map<string, Hono>()

  function frontOf(event: HttpEvent): Hono {
    const address = addressOf(event)
    const present = fronts.get(address)
    if (present) return present
    const { allowedHosts = [], allowedOrigins, routes: own } = options
    const auth = options.auth === 'iam' ? iamAuth((request) => eventOf.get(request)) : options.auth(address)
    if (stagePrefix(event) !== '') checkStage(address, auth)
    const made = routes({
      server,
      auth,
      allowedHosts: [new URL(address).hostname, ...allowedHosts],
      ...(allowedOrigins && { allowedOrigins }),
      ...(own && { routes: own }),
    })
    fronts.set(address, made)
    return made
  }

  async function answer(event: HttpEvent): Promise<HttpResult> {
    return toResult(await responseTo(event))
  }

  async function responseTo(event: HttpEvent): Promise<Response> {
    let request: Request
    try {
      request = toRequest(event)
    } catch (thrown) {
      // No failure of the function, which would ring an alarm for whatever somebody sends.
      return new Response(`This request can not be read: ${(thrown as Error).message}`, { status: 400 })
    }
    eventOf.set(request, event)
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

  return async (event) => {
    const request = parseHttpEvent(event)
    try {
      if (request) return await answer(request)
      await take(event)
      return undefined
    } finally {
      await server.service.drain()
    }
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
