import type { SFNClientConfig } from '@aws-sdk/client-sfn'
import { fromIni, fromTemporaryCredentials } from '@aws-sdk/credential-providers'
import { RunbridgeError } from '@runbridge/core'
import { engineError } from './errors.js'
import type { RoleSession } from './owner-session.js'

export interface AssumedRole {
  readonly roleArn: string
  readonly region: string
  readonly session: RoleSession
  /** What it is assumed with. Default: those of the profile, or what the standard chain finds. */
  readonly credentials?: SFNClientConfig['credentials'] | undefined
  readonly profile?: string | undefined
}

/** Two attempts together take no longer than one attempt to start may: nothing ends them earlier. */
const TIMEOUT_MS = 5_000

/**
 * Credentials of a role. Throws a RunbridgeError that names `sts:AssumeRole` and the role: nothing was sent for which
 * they were needed.
 */
export async function assumeRole({ roleArn, region, session, credentials, profile }: AssumedRole) {
  const own: SFNClientConfig['credentials'] =
    credentials ?? (profile === undefined ? undefined : fromIni({ profile }))
  const assumed = fromTemporaryCredentials({
    params: { RoleArn: roleArn, ...session },
    clientConfig: {
      region,
      maxAttempts: 2,
      requestHandler: {
        connectionTimeout: TIMEOUT_MS,
        requestTimeout: TIMEOUT_MS,
        throwOnRequestTimeout: true,
      },
    },
    ...(own !== undefined && { masterCredentials: own }),
  })
  try {
    return await assumed()
  } catch (thrown) {
    const error = engineError(thrown, { action: 'sts:AssumeRole', resource: roleArn })
    if (error.code !== 'denied') throw error
    const message = `${error.message} The trust policy of the role has to allow it too.`
    throw new RunbridgeError(error.code, message, { cause: thrown })
  }
}
