import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type AuthInfo, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server'
import { type Clock, RunbridgeError } from '@runbridge/core'

/** A token that was made here. Only its hash is kept. */
export interface StaticToken {
  /** Who sends it. Several tokens of one name are one caller, so that one can replace another. */
  readonly name: string
  /** SHA-256 of the token, in hexadecimal: what `runbridge token` prints. */
  readonly sha256: string
  /** When it stops counting, in ms since the epoch. Default: never. */
  readonly expiresAt?: number
  /** What it may do, where tools ask for scopes. Default: none. */
  readonly scopes?: readonly string[]
}

/** The issuer of what `createToken` makes: no URL, so no authorization server can be it. */
export const STATIC_ISSUER = 'urn:runbridge:token'

/** Lets scanners for leaked secrets know one. */
const PREFIX = 'runbridge_'

/** A new token of 256 random bits, and the hash by which the server knows it. */
export function createToken(): { readonly token: string; readonly sha256: string } {
  const token = PREFIX + randomBytes(32).toString('base64url')
  return { token, sha256: sha256(token).toString('hex') }
}

/**
 * Tells who sends a token; undefined for one that is not ours. Every hash is compared, each in constant time.
 * @returns throws an OAuthError for one that has expired
 */
export function staticTokens(
  tokens: readonly StaticToken[],
  clock: Clock,
): (token: string) => AuthInfo | undefined {
  const known = tokens.map((entry) => ({ entry, hash: hashOf(entry) }))
  return (token) => {
    const presented = sha256(token)
    const [found] = known.filter(({ hash }) => timingSafeEqual(hash, presented))
    if (!found) return undefined
    const { name, expiresAt = Number.POSITIVE_INFINITY, scopes = [] } = found.entry
    if (expiresAt <= clock.now()) throw new OAuthError(OAuthErrorCode.InvalidToken, 'The token has expired')
    return {
      token,
      clientId: name,
      scopes: [...scopes],
      expiresAt: expiresAt / 1000,
      extra: { iss: STATIC_ISSUER, sub: name },
    }
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function hashOf({ name, sha256 }: StaticToken): Buffer {
  if (/^[0-9a-f]{64}$/i.test(sha256)) return Buffer.from(sha256, 'hex')
  throw new RunbridgeError(
    'misconfigured',
    `The hash of the token ${name} is no SHA-256 in hexadecimal; \`runbridge token\` makes a token and prints it.`,
  )
}
