import { type BearerAuth, bearerAuth } from '../../auth/bearer-auth.js'
import { createToken } from '../../auth/static-tokens.js'

/** Callers that a server can tell apart, each with a token. */
export function callers(...names: readonly string[]): {
  readonly auth: BearerAuth
  readonly tokens: Readonly<Record<string, string>>
} {
  const made = names.map((name) => ({ name, ...createToken() }))
  return {
    auth: bearerAuth({ tokens: made.map(({ name, sha256 }) => ({ name, sha256 })) }),
    tokens: Object.fromEntries(made.map(({ name, token }) => [name, token])),
  }
}
