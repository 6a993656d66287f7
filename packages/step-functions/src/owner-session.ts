import { createHash } from 'node:crypto'
import type { Owner } from '@runbridge/core'

/** Of an assumed role, as https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html names them. */
export interface RoleSession {
  /** Up to 64 of `\w+=,.@-`. */
  readonly RoleSessionName: string
  readonly ExternalId?: string
}

const PREFIX = 'runbridge'
const HASH_LENGTH = 12
const LONGEST = 64 - `${PREFIX}--`.length - HASH_LENGTH

/**
 * How a role knows for whom it is assumed: `ExternalId` is the SHA-256 of the owner in hex, so that a role whose trust
 * policy asks for it is assumed for that owner alone. The session is named for the owner, as far as it can be, with the
 * beginning of the hash, by which names that are cut or cleaned are told apart.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_common-scenarios_third-party.html
 */
export function ownerSession(owner: Owner): RoleSession {
  const hash = createHash('sha256').update(owner).digest('hex')
  const shown = nameIn(owner)
    .replace(/[^A-Za-z0-9_+=,.@-]/g, '-')
    .slice(0, LONGEST)
  return { RoleSessionName: `${PREFIX}-${shown}-${hash.slice(0, HASH_LENGTH)}`, ExternalId: hash }
}

export const OWN_SESSION: RoleSession = { RoleSessionName: PREFIX }

/** The subject, the client or the role of `["kind","within","name"]`; else all of it. */
function nameIn(owner: Owner): string {
  try {
    const parts: unknown = JSON.parse(owner)
    return Array.isArray(parts) ? String(parts.at(-1)) : owner
  } catch {
    return owner
  }
}
