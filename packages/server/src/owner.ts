import type { AuthInfo } from '@modelcontextprotocol/server'
import { LOCAL_OWNER, type Owner } from '@runbridge/core'

/**
 * The owner of what this caller creates: issuer and subject of a verified token, the client id only where the
 * token names no subject, `local` without authentication. Issuer and subject come as `extra.iss` and
 * `extra.sub` (RFC 7519, 4.1).
 */
export function ownerOf(authInfo: AuthInfo | undefined): Owner {
  if (authInfo === undefined) return LOCAL_OWNER
  const { iss, sub } = authInfo.extra ?? {}
  return typeof sub === 'string'
    ? JSON.stringify(['subject', typeof iss === 'string' ? iss : '', sub])
    : JSON.stringify(['client', typeof iss === 'string' ? iss : '', authInfo.clientId])
}
