import { Metadata, Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js'
import { type Dispatcher, dispatch } from './dispatch.js'
import { statusDetails } from './error-details.js'
import { type ApiError, RPC_CODES } from './errors.js'
import type { Operation } from './faults.js'
import type { Request } from './operations.js'
import { executionsService, toProto } from './protos.js'
import type { Resource } from './resources.js'

export interface GrpcServer {
  readonly port: number
  close(): void
}

const METHODS = [
  'CreateExecution',
  'GetExecution',
  'ListExecutions',
  'CancelExecution',
] as const satisfies readonly Operation[]

type Call = ServerUnaryCall<Request, Resource>

/**
 * The executions service. gRPC can't break its own connection, so whoever stands in front of it is told to.
 * @param reset breaks the connection that a peer (`127.0.0.1:port`) came by
 */
export async function serveGrpc(dispatcher: Dispatcher, reset: (peer: string) => void): Promise<GrpcServer> {
  const server = new Server()
  const handle = (operation: Operation) => (call: Call, callback: sendUnaryData<Resource>) => {
    void answer(dispatcher, operation, call, callback, reset)
  }
  server.addService(
    executionsService(),
    Object.fromEntries(METHODS.map((operation) => [operation, handle(operation)])),
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  return { port, close: () => server.forceShutdown() }
}

async function answer(
  dispatcher: Dispatcher,
  operation: Operation,
  call: Call,
  callback: sendUnaryData<Resource>,
  reset: (peer: string) => void,
): Promise<void> {
  const given = await dispatch(dispatcher, operation, 'grpc', call.request)
  switch (given.kind) {
    case 'resource':
      callback(null, toProto(given.resource))
      return
    case 'error':
      callback(serviceError(given.error))
      return
    case 'status':
      callback({
        code: RPC_CODES[grpcOfHttp(given.status)][0],
        details: `Received HTTP status code ${given.status}`,
      })
      return
    case 'reset':
      reset(call.getPeer())
      return
    case 'nothing':
      return
  }
}

/** https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md */
function grpcOfHttp(status: number): keyof typeof RPC_CODES {
  if (status === 401) return 'UNAUTHENTICATED'
  if (status === 403) return 'PERMISSION_DENIED'
  if (status === 404) return 'UNIMPLEMENTED'
  if ([429, 502, 503, 504].includes(status)) return 'UNAVAILABLE'
  return status === 400 ? 'INTERNAL' : 'UNKNOWN'
}

/** The error with google.rpc.ErrorInfo where a permission is missing, as Google sends it. */
function serviceError({ status, message, permission }: ApiError) {
  const [code] = RPC_CODES[status]
  const metadata = new Metadata()
  if (permission !== undefined) {
    metadata.set('grpc-status-details-bin', statusDetails(code, message, permission))
  }
  return { code, details: message, metadata }
}
