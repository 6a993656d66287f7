import { RunbridgeError } from '@runbridge/core'
import type { BearerAuth } from './bearer-auth.js'
import { isLoopback } from './loopback.js'

/**
 * Refuses to listen where others can connect, unless callers are known and reach it under a URL that was written
 * down. There is no way around it: whoever reaches an open port could start workflows.
 */
export function refuseOpenBind(host: string, auth: BearerAuth | undefined): void {
  if (isLoopback(host)) return
  const problem = auth
    ? auth.resourceUrl
      ? undefined
      : 'Write `auth.resourceUrl`, the URL under which clients reach /mcp: requests for any other host are refused.'
    : 'Nothing authenticates callers, so whoever reaches the port could start workflows. Configure `auth` (docs/auth.md), or listen on 127.0.0.1 or ::1.'
  if (problem === undefined) return
  throw new RunbridgeError(
    'misconfigured',
    `host ${JSON.stringify(host)} is not a loopback address. ${problem}`,
  )
}
