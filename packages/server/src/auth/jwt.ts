import { type AuthInfo, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server'
import { RunbridgeError } from '@runbridge/core'
import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import { type IssuerKeys, issuerKeys } from './issuer-keys.js'
import { isSafeUrl } from './loopback.js'
import { InsufficientScope } from './refusal.js'

/** Signatures by a key pair: with a shared secret whoever checks tokens could make them too. */
export const JWT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const

export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number]

/** An authorization server whose access tokens are accepted. */
export interface JwtIssuer {
  /** Exactly as its tokens and its metadata name it. */
  readonly issuer: string
  /** What its tokens for this server carry as `aud`; any of several. */
  readonly audience: string | readonly string[]
  /** Where its keys are. Default: what its metadata says. */
  readonly jwksUri?: string
  /** Every token needs all of them. Default: none. */
  readonly scopes?: readonly string[]
  /** Default: all of `JWT_ALGORITHMS`. */
  readonly algorithms?: readonly JwtAlgorithm[]
  /** How far the issuer's clock may be from ours, in ms. Default 30,000. */
  readonly clockToleranceMs?: number
  /** How long after a fetch of the keys an unknown one does not cause another, in ms. Default 30,000. */
  readonly cooldownMs?: number
}

export interface JwtVerifier {
  /** Throws an OAuthError for a token that does not count, `unavailable` when that can't be told. */
  verify(token: string): Promise<AuthInfo>
  readonly issuers: readonly { readonly issuer: string; readonly keys: IssuerKeys }[]
}

const DEFAULT_TOLERANCE_MS = 30_000
/** Of a subject (OpenID Connect Core 1.0, 2): names of owners are keys in every store. */
const MAX_NAME_CHARS = 255
/** Access tokens (RFC 9068, 2.1) and tokens that do not say; an ID token of the same issuer is told by its audience. */
const TYPES = ['jwt', 'at+jwt']

export function jwtVerifier(issuers: readonly JwtIssuer[]): JwtVerifier {
  const known = new Map(issuers.map((issuer) => [issuer.issuer, { issuer, keys: issuerKeys(issuer) }]))
  for (const { issuer, jwksUri = issuer } of issuers) {
    if (isSafeUrl(issuer) && isSafeUrl(jwksUri)) continue
    throw new RunbridgeError(
      'misconfigured',
      `The issuer ${issuer} and its keys must be https URLs: whoever could change the keys on the way could sign tokens.`,
    )
  }
  if (known.size < issuers.length) {
    throw new RunbridgeError(
      'misconfigured',
      'An issuer is named twice; name it once, with a list as `audience`.',
    )
  }
  return {
    issuers: [...known.values()].map(({ issuer, keys }) => ({ issuer: issuer.issuer, keys })),
    async verify(token) {
      const found = known.get(claimedIssuer(token))
      if (!found) throw invalid('The token is from an issuer that is not accepted here')
      const { issuer, keys } = found
      const toleranceMs = issuer.clockToleranceMs ?? DEFAULT_TOLERANCE_MS
      const audience = typeof issuer.audience === 'string' ? [issuer.audience] : [...issuer.audience]
      const { payload, protectedHeader } = await jwtVerify(token, keys.find, {
        issuer: issuer.issuer,
        audience,
        algorithms: [...(issuer.algorithms ?? JWT_ALGORITHMS)],
        clockTolerance: toleranceMs / 1000,
        requiredClaims: ['exp'],
      }).catch((thrown) => {
        throw refusalOf(thrown)
      })
      const type = protectedHeader.typ?.toLowerCase().replace(/^application\//, '')
      if (type !== undefined && !TYPES.includes(type)) throw invalid('The token is no access token')
      return authInfoOf(token, payload, issuer, toleranceMs)
    },
  }
}

function claimedIssuer(token: string): string {
  try {
    return decodeJwt(token).iss ?? ''
  } catch {
    throw invalid('The token is not known here')
  }
}

function authInfoOf(token: string, payload: JWTPayload, issuer: JwtIssuer, toleranceMs: number): AuthInfo {
  const { sub, exp = 0 } = payload
  // RFC 7519, 4.1.2. Taken for none, all the people of one client would be one owner.
  if (sub !== undefined && typeof sub !== 'string') throw invalid('The subject of the token is no text')
  const subject = sub !== '' ? sub : undefined
  const clientId = [payload.client_id, payload.azp, payload.cid].find((id) => typeof id === 'string') as
    | string
    | undefined
  if (subject === undefined && !clientId) throw invalid('The token names neither a subject nor a client')
  if ((subject ?? clientId ?? '').length > MAX_NAME_CHARS)
    throw invalid('The subject of the token is too long')
  const scopes = [...words(payload.scope), ...words(payload.scp)]
  const { scopes: needed = [] } = issuer
  if (!needed.every((scope) => scopes.includes(scope))) throw new InsufficientScope(needed)
  return {
    token,
    clientId: clientId ?? '',
    scopes,
    // The SDK compares this with the clock once more, without a tolerance.
    expiresAt: exp + toleranceMs / 1000,
    extra: { iss: issuer.issuer, ...(subject !== undefined && { sub: subject }) },
  }
}

/** Scopes as a list with spaces between (RFC 8693, 4.2) or as an array, which some issuers write. */
function words(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((word) => word !== '')
  return Array.isArray(claim) ? claim.filter((word) => typeof word === 'string') : []
}

/** What is told to the client: enough to mend it, nothing of the token's contents. */
function refusalOf(thrown: unknown): Error {
  if (thrown instanceof errors.JWTExpired) return invalid('The token has expired')
  if (thrown instanceof errors.JWTClaimValidationFailed)
    return invalid(`The claim ${thrown.claim} of the token does not fit`)
  if (thrown instanceof errors.JWKSNoMatchingKey)
    return invalid('The token is signed with a key that its issuer does not publish')
  if (thrown instanceof errors.JWKSMultipleMatchingKeys)
    return invalid('The token does not name its key, and its issuer has several')
  if (thrown instanceof errors.JWSSignatureVerificationFailed)
    return invalid('The signature of the token does not fit')
  if (thrown instanceof errors.JOSEAlgNotAllowed)
    return invalid('The token is signed with an algorithm that is not accepted here')
  if (thrown instanceof errors.JOSEError) return invalid('The token is malformed')
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

function invalid(message: string): OAuthError {
  return new OAuthError(OAuthErrorCode.InvalidToken, message)
}
