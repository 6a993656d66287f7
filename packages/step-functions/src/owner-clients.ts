import { type Owner, RunbridgeError } from '@runbridge/core'
import type {
  AwsCredentials,
  CloseableStepFunctionsClients,
  StepFunctionsClients,
  StepFunctionsClientsOptions,
} from './clients.js'
import { ownerSession } from './owner-session.js'

/** Clients with the credentials of owners. */
export interface OwnerClients {
  /** Whether the owner has credentials. Asked before each call. */
  has(owner: Owner): boolean
  /** Called at the owner's first call; the clients are closed when those of others were used more lately. */
  open(owner: Owner): StepFunctionsClients & { close(): void }
  /** How many owners' clients stay open. Default 100. */
  readonly maxOwners?: number | undefined
}

/**
 * @param own the server's own credentials, with which roles are assumed
 * @param open makes clients with these credentials
 * @returns undefined where no owner has credentials of its own
 */
export function ownerClients(
  { region, roles, maxOwners, ...options }: StepFunctionsClientsOptions,
  own: AwsCredentials,
  open: (credentials: AwsCredentials) => CloseableStepFunctionsClients,
): OwnerClients | undefined {
  const { credentialsOf = roles && assumed(region, roles, own) } = options
  if (!credentialsOf) return undefined
  return {
    has: (owner) => credentialsOf(owner) !== undefined,
    open: (owner) =>
      open(async () => {
        const present = credentialsOf(owner)
        if (present === undefined) throw noneAnyMore()
        return typeof present === 'function' ? present() : present
      }),
    maxOwners,
  }
}

function assumed(region: string, roles: Readonly<Record<Owner, string>>, credentials: AwsCredentials) {
  return (owner: Owner): AwsCredentials | undefined => {
    const roleArn = Object.hasOwn(roles, owner) ? roles[owner] : undefined
    if (roleArn === undefined) return undefined
    return async () => {
      const { assumeRole } = await import('./assumed-role.js')
      return assumeRole({ roleArn, region, session: ownerSession(owner), credentials })
    }
  }
}

function noneAnyMore(): RunbridgeError {
  return new RunbridgeError('denied', 'The AWS credentials of this owner were taken away meanwhile.')
}
