import type { Log } from '@runbridge/core'
import { type BearerAuth, bearerAuth, refuseOpenBind, type Tool } from '@runbridge/server'
import type { Config } from './config/schema.js'

/** How callers are known, as the configuration says. Throws `misconfigured` for a bind that admits strangers. */
export function openAuth(
  { auth, host }: Config['server'],
  tools: readonly Pick<Tool, 'scopes'>[],
  log?: Log,
): BearerAuth | undefined {
  const opened =
    auth && bearerAuth({ ...withDefaults(auth), toolScopes: scopesOf(tools), ...(log && { log }) })
  refuseOpenBind(host, opened)
  return opened
}

function withDefaults({ resourceUrl, jwt = [], tokens = [] }: NonNullable<Config['server']['auth']>) {
  return {
    ...(resourceUrl !== undefined && { resourceUrl }),
    jwt: jwt.map(
      ({ audience = resourceUrl ?? '', jwksUri, scopes, algorithms, clockToleranceMs, issuer }) => ({
        issuer,
        audience,
        ...(jwksUri !== undefined && { jwksUri }),
        ...(scopes && { scopes }),
        ...(algorithms && { algorithms }),
        ...(clockToleranceMs !== undefined && { clockToleranceMs }),
      }),
    ),
    tokens: tokens.map(({ name, sha256, expires, scopes }) => ({
      name,
      sha256,
      ...(expires !== undefined && { expiresAt: Date.parse(expires) }),
      ...(scopes && { scopes }),
    })),
  }
}

function scopesOf(tools: readonly Pick<Tool, 'scopes'>[]): string[] {
  return tools.flatMap(({ scopes = [] }) => scopes)
}
