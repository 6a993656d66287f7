import { SFNClient, type SFNClientConfig } from '@aws-sdk/client-sfn'
import type { Owner } from '@runbridge/core'
import { type OwnerClients, ownerClients } from './owner-clients.js'
import { OWN_SESSION } from './owner-session.js'

/** All that is needed of an AWS client. */
export type StepFunctionsClient = Pick<SFNClient, 'send'>

/** One client a purpose, so that polls and their rate limiter never delay a start, a cancel or an answer. */
export interface StepFunctionsClients {
  /** Describe, history and lists. */
  readonly reads: StepFunctionsClient
  /** StopExecution, SendTaskSuccess, SendTaskFailure, and what has to be read for them. */
  readonly writes: StepFunctionsClient
  /** StartExecution: must send each call once (`maxAttempts: 1`). */
  readonly starts: StepFunctionsClient
  /** StartSyncExecution: must send each call once and wait longer than the five minutes of an Express run. */
  readonly sync: StepFunctionsClient
  /**
   * DescribeMapRun, whose quota is the smallest: should send each call once, so that what throttles it slows down no
   * other read. Default: `reads`.
   */
  readonly mapRuns?: StepFunctionsClient | undefined
  /** Where they talk to; state machines elsewhere are refused. Default: not checked. */
  readonly region?: string | undefined
  /**
   * Clients with each owner's own credentials, for every call that is made for one; these here then only describe
   * state machines. Default: these, whoever the owner is.
   */
  readonly byOwner?: OwnerClients | undefined
}

/** As the AWS SDK has them. */
export type AwsCredentials = NonNullable<SFNClientConfig['credentials']>

export interface StepFunctionsClientsOptions {
  readonly region: string
  /** A profile of the AWS configuration files. Default: the standard chain. */
  readonly profile?: string | undefined
  /** Instead of the region's own, such as a local stand-in. */
  readonly endpoint?: string | undefined
  /** A role that is assumed with the credentials found. Default: they are used as they are. */
  readonly roleArn?: string | undefined
  readonly credentials?: AwsCredentials | undefined
  /**
   * The role of each owner, assumed with the credentials of these options. Others have none, and nothing is called for
   * them: `byOwner`. Default: all owners are served with these credentials.
   */
  readonly roles?: Readonly<Record<Owner, string>> | undefined
  /**
   * Instead of `roles`: the credentials of an owner, undefined for one that has none. Asked before each call whether
   * there are some, and for new ones when those in use expire, as their `expiration` says.
   */
  readonly credentialsOf?: ((owner: Owner) => AwsCredentials | undefined) | undefined
  /** How many owners' clients stay open. Default 100. */
  readonly maxOwners?: number | undefined
}

/** Longer than an Express run may take: https://docs.aws.amazon.com/step-functions/latest/dg/express-at-least-once-execution.html */
const SYNC_TIMEOUT_MS = 310_000
const TIMEOUT_MS = 15_000
const CONNECT_MS = 5_000

export interface CloseableStepFunctionsClients extends StepFunctionsClients {
  readonly region: string
  /** Closes the connections. */
  close(): void
}

/** What the SDK itself takes: https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html */
function endpointOfEnvironment(): string | undefined {
  const { AWS_ENDPOINT_URL_SFN, AWS_ENDPOINT_URL, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS } = process.env
  if (AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === 'true') return undefined
  return AWS_ENDPOINT_URL_SFN || AWS_ENDPOINT_URL || undefined
}

export function createStepFunctionsClients(
  options: StepFunctionsClientsOptions,
): CloseableStepFunctionsClients {
  const { region, profile, endpoint, roleArn } = options
  // AssumeRole is loaded only where a role is assumed, from a file of its own: a bundler drops what that leaves out.
  const credentials =
    roleArn === undefined
      ? options.credentials
      : async () => {
          const { assumeRole } = await import('./assumed-role.js')
          return assumeRole({ ...options, roleArn, session: OWN_SESSION })
        }
  const common: SFNClientConfig = {
    region,
    ...(profile !== undefined && { profile }),
    ...(endpoint !== undefined && { endpoint }),
    // StartSyncExecution puts `sync-` before the host, which a given endpoint does not have.
    ...((endpoint ?? endpointOfEnvironment()) !== undefined && { disableHostPrefix: true }),
    ...(credentials !== undefined && { credentials }),
  }
  const within = (requestTimeout: number) => ({
    connectionTimeout: CONNECT_MS,
    requestTimeout,
    throwOnRequestTimeout: true,
  })
  // A connection each: one that was kept and that the other end has closed meanwhile, as while a function on Lambda
  // stood still, would leave open whether the call arrived. As many as there are calls, however long each lasts.
  const agent = { keepAlive: false, maxSockets: Number.POSITIVE_INFINITY }
  const sentOnce = (requestTimeout: number) => ({
    ...within(requestTimeout),
    httpAgent: agent,
    httpsAgent: agent,
  })
  // Reads may be repeated; what is throttled for longer is left to the poll interval.
  const reads = new SFNClient({
    ...common,
    requestHandler: within(TIMEOUT_MS),
    maxAttempts: 3,
    retryMode: 'adaptive',
  })
  // The client keeps credentials until they expire: all clients go by the same ones, so that a role is assumed once.
  const own = reads.config.credentials
  const shared = { ...common, credentials: own }
  const clients = {
    reads,
    mapRuns: new SFNClient({ ...shared, requestHandler: within(TIMEOUT_MS), maxAttempts: 1 }),
    // Stopping twice is stopping once, and an answer that arrived twice is recognised in the history.
    writes: new SFNClient({ ...shared, requestHandler: within(TIMEOUT_MS), maxAttempts: 3 }),
    // A second attempt would hide what became of the first.
    starts: new SFNClient({ ...shared, requestHandler: sentOnce(TIMEOUT_MS), maxAttempts: 1 }),
    sync: new SFNClient({ ...shared, requestHandler: sentOnce(SYNC_TIMEOUT_MS), maxAttempts: 1 }),
  }
  const byOwner = ownerClients(options, own, (theirs) =>
    createStepFunctionsClients({ region, endpoint, credentials: theirs }),
  )
  return {
    ...clients,
    region,
    ...(byOwner && { byOwner }),
    close: () => {
      for (const client of Object.values(clients)) client.destroy()
    },
  }
}
