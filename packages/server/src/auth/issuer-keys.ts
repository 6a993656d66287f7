import { RunbridgeError } from '@runbridge/core'
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  type ExportedJWKSCache,
  errors,
  type FlattenedJWSInput,
  type JWSHeaderParameters,
  type JWTVerifyGetKey,
  jwksCache,
  type RemoteJWKSet,
} from 'jose'
import { isSafeUrl } from './loopback.js'

export interface IssuerKeysOptions {
  readonly issuer: string
  /** Default: what the issuer's own metadata says, read when it is first needed. */
  readonly jwksUri?: string
  /** How long after a fetch an unknown key does not cause another, in ms. Default 30,000. */
  readonly cooldownMs?: number
}

/** The keys by which an issuer signs, fetched over HTTPS and kept. */
export interface IssuerKeys {
  /** Throws `unavailable` when the keys can't be had, and jose's errors for a token that fits none. */
  readonly find: JWTVerifyGetKey
  /** Fetches them now and says how many there are. Throws `unavailable` or `misconfigured`. */
  readonly count: () => Promise<number>
}

const FETCH_MS = 5_000
/** Then they are fetched again, so that a key that was withdrawn stops counting. */
const FRESH_MS = 600_000
/** After a failure the issuer is left alone for so long, whoever sends tokens: each would be another request to it. */
const PAUSE_MS = 1_000
/** For so long kept keys go on counting while the issuer can't be reached: its outage is not ours at once. */
const STALE_MS = 3_600_000

/**
 * A new key is found by its `kid` when the first token signed with it arrives. Kept keys count for ten minutes,
 * and for an hour while the issuer can't be reached, which is then asked once a second at most.
 */
export function issuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { issuer, cooldownMs } = options
  const kept: ExportedJWKSCache | Record<string, never> = {}
  const pauseMs = Math.min(PAUSE_MS, cooldownMs ?? PAUSE_MS)
  let opening: Promise<RemoteJWKSet> | undefined
  let failed: { readonly at: number; readonly reason: unknown } | undefined

  async function open(): Promise<RemoteJWKSet> {
    const url = new URL(options.jwksUri ?? (await discover(issuer)))
    return createRemoteJWKSet(url, {
      timeoutDuration: FETCH_MS,
      cacheMaxAge: FRESH_MS,
      ...(cooldownMs !== undefined && { cooldownDuration: cooldownMs }),
      [jwksCache]: kept,
    })
  }

  /** Opened once; an attempt that fails is made again by the next token. */
  function opened(): Promise<RemoteJWKSet> {
    opening ??= open().catch((thrown) => {
      opening = undefined
      throw thrown
    })
    return opening
  }

  /** Among those that are kept. What does not fit them may fit newer ones, so that only a key says something. */
  async function findKept(header: JWSHeaderParameters, token: FlattenedJWSInput, reason: unknown) {
    const fresh = kept.jwks && Date.now() - (kept.uat ?? 0) < STALE_MS
    const found = fresh && (await createLocalJWKSet(kept.jwks)(header, token).catch(() => undefined))
    if (found) return found
    throw reason instanceof RunbridgeError ? reason : unavailable(issuer, reason)
  }

  return {
    async find(header, token) {
      if (failed && Date.now() - failed.at < pauseMs) return findKept(header, token, failed.reason)
      try {
        const key = await (await opened())(header, token)
        failed = undefined
        return key
      } catch (reason) {
        if (saysSomethingOfTheToken(reason)) throw reason
        failed = { at: Date.now(), reason }
        return findKept(header, token, reason)
      }
    },
    async count() {
      const remote = await opened()
      await remote.reload().catch((thrown) => {
        throw unavailable(issuer, thrown)
      })
      return remote.jwks()?.keys.length ?? 0
    },
  }
}

function saysSomethingOfTheToken(thrown: unknown): boolean {
  return (
    thrown instanceof errors.JWKSNoMatchingKey ||
    thrown instanceof errors.JWKSMultipleMatchingKeys ||
    thrown instanceof errors.JOSENotSupported
  )
}

function unavailable(issuer: string, cause: unknown): RunbridgeError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new RunbridgeError('unavailable', `The keys of ${issuer} can not be fetched: ${reason}.`, { cause })
}

/**
 * Where the issuer publishes its keys: OpenID Connect Discovery 1.0 with its path appended, as most providers
 * have it, then RFC 8414 with its path inserted.
 */
async function discover(issuer: string): Promise<string> {
  let failure: unknown
  for (const url of metadataUrls(issuer)) {
    try {
      const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(FETCH_MS) })
      if (!response.ok) throw new Error(`${url} answers ${response.status}`)
      return jwksUriOf(issuer, await response.json())
    } catch (thrown) {
      if (thrown instanceof RunbridgeError) throw thrown
      failure ??= thrown
    }
  }
  throw unavailable(issuer, failure)
}

function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]
}

/** The document must be the issuer's own (RFC 8414, 3.3). */
function jwksUriOf(issuer: string, metadata: unknown): string {
  const { issuer: named, jwks_uri } = (metadata ?? {}) as { issuer?: unknown; jwks_uri?: unknown }
  if (named !== issuer) {
    throw new RunbridgeError(
      'misconfigured',
      `The metadata of ${issuer} names the issuer ${JSON.stringify(named)}; write the issuer exactly as it names itself.`,
    )
  }
  if (typeof jwks_uri === 'string' && isSafeUrl(jwks_uri)) return jwks_uri
  throw new RunbridgeError(
    'misconfigured',
    `The metadata of ${issuer} names no jwks_uri with https; write \`jwksUri\` yourself.`,
  )
}
