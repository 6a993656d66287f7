import type { AuthInfo } from '@modelcontextprotocol/server'
import { isJsonObject, LOCAL_OWNER, type Owner, RunbridgeError } from '@runbridge/core'

/**
 * The owner of what this caller creates: issuer and subject of a verified token, the client only where the token
 * names no subject, account and role of an IAM caller, `local` without authentication. No two of them can meet,
 * since each kind is named and its parts are quoted.
 *
 * Issuer and subject come as `extra.iss` and `extra.sub` (RFC 7519, 4.1), an IAM caller as `extra.iam` with
 * `accountId` and `roleId`. The client that a subject uses is no part: a person finds their tasks from each.
 * Throws `unauthenticated` for a caller that is named by nothing, who would share tasks with all such callers.
 */
export function ownerOf(authInfo: AuthInfo | undefined): Owner {
  if (authInfo === undefined) return LOCAL_OWNER
  const { iss, sub, iam } = authInfo.extra ?? {}
  if (isJsonObject(iam)) return owner('iam', iam.accountId || undefined, iam.roleId)
  if (sub === undefined || sub === '') return owner('client', iss ?? '', authInfo.clientId)
  return owner('subject', iss ?? '', sub)
}

function owner(kind: 'subject' | 'client' | 'iam', within: unknown, name: unknown): Owner {
  if (typeof within === 'string' && typeof name === 'string' && name !== '')
    return JSON.stringify([kind, within, name])
  throw new RunbridgeError(
    'unauthenticated',
    'This caller can not be told from others: its credentials name neither a subject, nor a client, nor an account and a role.',
  )
}
