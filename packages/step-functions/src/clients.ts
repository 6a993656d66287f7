import { SFNClient, type SFNClientConfig } from '@aws-sdk/client-sfn'

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
}

export interface StepFunctionsClientsOptions {
  readonly region: string
  /** A profile of the AWS configuration files. Default: the standard chain. */
  readonly profile?: string | undefined
  /** Instead of the region's own, such as a local stand-in. */
  readonly endpoint?: string | undefined
  /** A role that is assumed with the credentials found. Default: they are used as they are. */
  readonly roleArn?: string | undefined
  readonly credentials?: SFNClientConfig['credentials'] | undefined
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
  const { region, profile, endpoint } = options
  // AssumeRole is loaded only where a role is assumed, from a file of its own: a bundler drops what that leaves out.
  const credentials: SFNClientConfig['credentials'] =
    options.roleArn === undefined
      ? options.credentials
      : async () => (await import('./assumed-role.js')).assumedRole(options)()
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
  const clients = {
    // Reads may be repeated; what is throttled for longer is left to the poll interval.
    reads: new SFNClient({
      ...common,
      requestHandler: within(TIMEOUT_MS),
      maxAttempts: 3,
      retryMode: 'adaptive',
    }),
    mapRuns: new SFNClient({ ...common, requestHandler: within(TIMEOUT_MS), maxAttempts: 1 }),
    // Stopping twice is stopping once, and an answer that arrived twice is recognised in the history.
    writes: new SFNClient({ ...common, requestHandler: within(TIMEOUT_MS), maxAttempts: 3 }),
    // A second attempt would hide what became of the first.
    starts: new SFNClient({ ...common, requestHandler: sentOnce(TIMEOUT_MS), maxAttempts: 1 }),
    sync: new SFNClient({ ...common, requestHandler: sentOnce(SYNC_TIMEOUT_MS), maxAttempts: 1 }),
  }
  return {
    ...clients,
    region,
    close: () => {
      for (const client of Object.values(clients)) client.destroy()
    },
  }
}
