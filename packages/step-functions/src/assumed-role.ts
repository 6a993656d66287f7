import type { SFNClientConfig } from '@aws-sdk/client-sfn'
import { fromIni, fromTemporaryCredentials } from '@aws-sdk/credential-providers'
import type { StepFunctionsClientsOptions } from './clients.js'

/** Credentials of a role, assumed with those that were found. */
export function assumedRole({
  roleArn = '',
  region,
  profile,
  credentials,
}: StepFunctionsClientsOptions): ReturnType<typeof fromTemporaryCredentials> {
  const own: SFNClientConfig['credentials'] =
    credentials ?? (profile === undefined ? undefined : fromIni({ profile }))
  return fromTemporaryCredentials({
    params: { RoleArn: roleArn, RoleSessionName: 'runbridge' },
    clientConfig: { region },
    ...(own !== undefined && { masterCredentials: own }),
  })
}
