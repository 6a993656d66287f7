import {
  type AuthInfo,
  bearerAuthChallengeResponse,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  verifyBearerToken,
} from '@modelcontextprotocol/server'
import { type Clock, type Log, RunbridgeError, systemClock } from '@runbridge/core'
import { endingWithToken } from './ending-with-token.js'
import { type JwtIssuer, jwtVerifier } from './jwt.js'
import { isSafeUrl } from './loopback.js'
import { InsufficientScope } from './refusal.js'
import { metadataPaths, metadataResponse } from './resource-metadata.js'
import { type StaticToken, staticTokens } from './static-tokens.js'

export interface BearerAuthOptions {
  /** Authorization servers whose access tokens are accepted. Default: none. */
  readonly jwt?: readonly JwtIssuer[]
  /** Tokens that `runbridge token` made, by their hashes. Default: none. */
  readonly tokens?: readonly StaticToken[]
  /**
   * Where clients reach MCP: the public URL of `/mcp`. Its host and origin are accepted beside loopback ones.
   * Nothing is taken from `X-Forwarded-*`, which whoever sends a request can write. Needed for `jwt` and to
   * listen on anything but loopback.
   */
  readonly resourceUrl?: string
  /** The scopes that tools ask for, shown to clients with those of the issuers. Default: none. */
  readonly toolScopes?: readonly string[]
  /** Default: the system's. */
  readonly clock?: Clock
  /** Default: silent. */
  readonly log?: Log
}

/** Tells who sends a request. What `serveHttp` takes as `auth`. */
export interface BearerAuth {
  readonly resourceUrl: URL | undefined
  /** Whose token it is, or the answer that says what is missing (MCP 2026-07-28 basic/authorization, "Error Handling"). */
  authenticate(request: Request): Promise<AuthInfo | Response>
  /** Where `metadata` is served; nowhere without an authorization server. */
  readonly metadataPaths: readonly string[]
  /** Which authorization servers a client may go to (RFC 9728). */
  metadata(request: Request): Response
  /** The answer, if it is a stream that waits for news, ends with the token. */
  bounded(request: Request, authInfo: AuthInfo, response: Response): Response
  /** Fetches the keys of every issuer, so that a wrong address shows before the first caller comes. */
  check(): Promise<readonly IssuerReport[]>
}

export interface IssuerReport {
  readonly issuer: string
  /** How many keys it publishes, or why they can't be had. */
  readonly outcome: number | RunbridgeError
}

/** Throws `misconfigured` where the options admit nobody, or do not fit together. */
export function bearerAuth(options: BearerAuthOptions): BearerAuth {
  const { jwt = [], tokens = [], toolScopes = [], clock = systemClock, log } = options
  const resourceUrl = resourceOf(options)
  const jwts = jwtVerifier(jwt)
  const ownToken = staticTokens(tokens, clock)
  const required = unique(jwt.flatMap(({ scopes = [] }) => scopes))
  const metadata =
    resourceUrl && jwt.length > 0
      ? {
          resourceUrl,
          issuers: jwt.map(({ issuer }) => issuer),
          scopes: unique([...required, ...toolScopes]),
        }
      : undefined
  const challenge = {
    requiredScopes: [...required],
    ...(metadata && { resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(metadata.resourceUrl) }),
  }
  const verifier = {
    verifyAccessToken: async (token: string) => ownToken(token) ?? jwts.verify(token),
  }

  return {
    resourceUrl,
    async authenticate(request) {
      const header = request.headers.get('authorization')
      if (header === null) return withoutError(bearerAuthChallengeResponse(missing(), challenge))
      try {
        return await verifyBearerToken(header, { ...challenge, requiredScopes: [], verifier })
      } catch (thrown) {
        if (!(thrown instanceof OAuthError)) return unavailable(thrown, log)
        log?.info({ reason: thrown.message }, 'a token was refused')
        const scopes = thrown instanceof InsufficientScope ? thrown.scopes : required
        return bearerAuthChallengeResponse(thrown, { ...challenge, requiredScopes: [...scopes] })
      }
    },
    metadataPaths: metadata ? metadataPaths(metadata.resourceUrl) : [],
    metadata: (request) =>
      metadata ? metadataResponse(request, metadata) : new Response(null, { status: 404 }),
    bounded: (request, authInfo, response) => endingWithToken(request, authInfo, response, clock),
    check: () =>
      Promise.all(
        jwts.issuers.map(async ({ issuer, keys }) => ({
          issuer,
          outcome: await keys.count().catch((thrown: RunbridgeError) => thrown),
        })),
      ),
  }
}

function resourceOf({ jwt = [], tokens = [], resourceUrl }: BearerAuthOptions): URL | undefined {
  if (jwt.length === 0 && tokens.length === 0)
    throw misconfigured('Authentication that knows no issuer and no token admits nobody; name one.')
  if (resourceUrl === undefined) {
    if (jwt.length === 0) return undefined
    throw misconfigured(
      'Tokens of an authorization server are meant for one resource: write `resourceUrl`, the public URL of /mcp.',
    )
  }
  if (!URL.canParse(resourceUrl) || !/^https?:$/.test(new URL(resourceUrl).protocol))
    throw misconfigured(`\`resourceUrl\` ${JSON.stringify(resourceUrl)} is no URL with https.`)
  // RFC 9728, 1.2: a resource identifier is an https URL.
  if (jwt.length > 0 && !isSafeUrl(resourceUrl))
    throw misconfigured(
      `\`resourceUrl\` ${resourceUrl} must start with https: whoever listens on the way could take the tokens.`,
    )
  return new URL(resourceUrl)
}

function missing(): OAuthError {
  return new OAuthError('invalid_token', 'Send a token in the header `Authorization: Bearer`')
}

/** A request without a token did nothing wrong: it is told where to get one, and no error (RFC 6750, 3.1). */
function withoutError(response: Response): Response {
  const header = response.headers.get('www-authenticate') ?? ''
  const parameters = header.replace(/^Bearer error="[^"]*", error_description="[^"]*"(, )?/, '')
  response.headers.set('www-authenticate', parameters === '' ? 'Bearer' : `Bearer ${parameters}`)
  return response
}

/** Whether the token counts can't be told now: no reason to get another one. */
function unavailable(thrown: unknown, log: Log | undefined): Response {
  log?.warn({ err: thrown }, 'a token could not be checked')
  const body = {
    error: 'temporarily_unavailable',
    error_description: 'The token can not be checked at the moment; send the request again.',
  }
  return Response.json(body, { status: 503, headers: { 'retry-after': '5' } })
}

function misconfigured(message: string): RunbridgeError {
  return new RunbridgeError('misconfigured', message)
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}
