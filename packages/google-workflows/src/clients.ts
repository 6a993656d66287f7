import type { v1 } from '@google-cloud/workflows'
import { RunbridgeError } from '@runbridge/core'
import type { GoogleAuth } from 'google-auth-library'
import { type CredentialsOptions, credentials, noCredentials } from './credentials.js'
import { type ExecutionsApi, executionsApi } from './executions-api.js'
import { ORIGINS, type RestApi, restApi } from './rest-api.js'

/** One client a purpose, so that polls never delay a start, a cancel or an answer. */
export interface GoogleWorkflowsClients {
  /** GetExecution and ListExecutions. */
  readonly reads: ExecutionsApi
  /** CreateExecution and CancelExecution, and what has to be read for them. */
  readonly writes: ExecutionsApi
  readonly rest: RestApi
}

export interface GoogleWorkflowsClientsOptions extends CredentialsOptions {
  /** How the Executions API is spoken. `rest`: HTTP/1.1, where gRPC does not get through. Default `grpc`. */
  readonly transport?: 'grpc' | 'rest' | undefined
  /** A stand-in instead of Google: an `http` URL on loopback. No credentials are looked for or sent. */
  readonly endpoint?: string | undefined
  /** Instead of what is found by the rules above. */
  readonly auth?: GoogleAuth | undefined
}

export interface CloseableGoogleWorkflowsClients extends GoogleWorkflowsClients {
  /** Closes the connections. */
  close(): Promise<void>
}

/** Of one request. The caller's signal ends it earlier. */
const TIMEOUT_MS = 20_000
const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])$/

/** Throws `misconfigured` for an endpoint that is not on loopback, `unauthenticated` where nothing can impersonate. */
export async function createGoogleWorkflowsClients(
  options: GoogleWorkflowsClientsOptions = {},
): Promise<CloseableGoogleWorkflowsClients> {
  const { endpoint, transport = 'grpc' } = options
  const standIn = endpoint === undefined ? undefined : loopback(endpoint)
  const auth = await (standIn ? noCredentials() : (options.auth ?? credentials(options)))
  const connect = transport === 'rest' ? restClient : grpcClient
  const [reads, writes] = await Promise.all([connect(auth, standIn), connect(auth, standIn)])
  const origins = standIn ? { executions: standIn.origin, workflows: standIn.origin } : ORIGINS
  return {
    reads: executionsApi(reads, auth, TIMEOUT_MS),
    writes: executionsApi(writes, auth, TIMEOUT_MS),
    rest: restApi(auth, TIMEOUT_MS, origins),
    async close() {
      await Promise.all([reads.close(), writes.close()])
    },
  }
}

function loopback(endpoint: string): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url?.protocol === 'http:' && LOOPBACK.test(url.hostname)) return url
  throw new RunbridgeError(
    'misconfigured',
    `${endpoint} can not stand in for Google: only http on a loopback address can, such as http://127.0.0.1:8787.`,
  )
}

type ClientOptions = NonNullable<ConstructorParameters<typeof v1.ExecutionsClient>[0]>

function placeOf(standIn: URL | undefined): Pick<ClientOptions, 'apiEndpoint' | 'port'> {
  return standIn ? { apiEndpoint: standIn.hostname, port: Number(standIn.port || 80) } : {}
}

/** Loaded when there is something to talk to: gRPC takes its time to load. */
async function grpcClient(auth: GoogleAuth, standIn: URL | undefined): Promise<v1.ExecutionsClient> {
  const { v1: api } = await import('@google-cloud/workflows')
  const options: ClientOptions = {
    ...placeOf(standIn),
    auth: auth as unknown as NonNullable<ClientOptions['auth']>,
    // Connections of its own, and no attempt of gRPC's to send a call again.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    'grpc.initial_reconnect_backoff_ms': 100,
  }
  if (!standIn) return new api.ExecutionsClient(options)
  const grpc = await import('@grpc/grpc-js')
  return new api.ExecutionsClient({ ...options, sslCreds: grpc.credentials.createInsecure() })
}

async function restClient(auth: GoogleAuth, standIn: URL | undefined): Promise<v1.ExecutionsClient> {
  const { v1: api } = await import('@google-cloud/workflows')
  const options: ClientOptions = {
    ...placeOf(standIn),
    auth: auth as unknown as NonNullable<ClientOptions['auth']>,
    fallback: true,
    // The client would turn the name of a state that it does not know into "unspecified".
    numericEnums: true,
    ...(standIn && { protocol: 'http' }),
  }
  return new api.ExecutionsClient(options)
}
