import { createRequire } from 'node:module'
import { type GrpcObject, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js'
import { fromJSON } from '@grpc/proto-loader'
import type { Resource } from './resources.js'

/** The descriptors that Google ships with its own client. */
const json = createRequire(import.meta.url)('@google-cloud/workflows/build/protos/protos.json') as object

/** The service of executions.proto. */
export function executionsService() {
  const definition = fromJSON(json as Parameters<typeof fromJSON>[0], {
    longs: String,
    enums: String,
    defaults: false,
  })
  const google = loadPackageDefinition(definition).google as GrpcObject
  const path = ['cloud', 'workflows', 'executions', 'v1', 'Executions']
  const client = path.reduce<unknown>((node, name) => (node as GrpcObject)[name], google)
  return (client as ServiceClientConstructor).service
}

const STATES = ['STATE_UNSPECIFIED', 'ACTIVE', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'UNAVAILABLE', 'QUEUED']
const LOG_LEVELS = ['CALL_LOG_LEVEL_UNSPECIFIED', 'LOG_ALL_CALLS', 'LOG_ERRORS_ONLY', 'LOG_NONE']

const VIEWS = ['EXECUTION_VIEW_UNSPECIFIED', 'BASIC', 'FULL']

/** An enum of a request by its name, whether it came as a name or as a number. */
function name(names: readonly string[], value: unknown): unknown {
  return names[Number(value)] ?? value
}

/** A REST request with the names of enums, which may come as numbers. */
export function withNamedEnums(request: Resource): Resource {
  const { view, execution } = request
  const started = execution as Resource | undefined
  return {
    ...request,
    ...(view !== undefined && { view: name(VIEWS, view) }),
    ...(started && {
      execution: { ...started, callLogLevel: name(LOG_LEVELS, started.callLogLevel ?? 0) },
    }),
  }
}

/** Enums as numbers, as `$alt=json;enum-encoding=int` asks for them. */
export function withNumericEnums(resource: Resource): Resource {
  const number = (names: readonly string[], value: unknown) =>
    typeof value === 'string' && names.includes(value) ? names.indexOf(value) : value
  return mapExecutions(resource, (execution) => ({
    ...execution,
    ...(execution.state !== undefined && { state: number(STATES, execution.state) }),
    ...(execution.callLogLevel !== undefined && {
      callLogLevel: number(LOG_LEVELS, execution.callLogLevel),
    }),
  }))
}

/** Times as protobuf has them. What the protos do not know is left out on the way. */
export function toProto(resource: Resource): Resource {
  return mapExecutions(resource, (execution) => ({
    ...execution,
    ...(execution.startTime !== undefined && { startTime: timestamp(String(execution.startTime)) }),
    ...(execution.endTime !== undefined && { endTime: timestamp(String(execution.endTime)) }),
    ...(execution.duration !== undefined && { duration: duration(String(execution.duration)) }),
  }))
}

function mapExecutions(resource: Resource, map: (execution: Resource) => Resource): Resource {
  const { executions } = resource
  return Array.isArray(executions) ? { ...resource, executions: executions.map(map) } : map(resource)
}

function timestamp(text: string): Resource {
  const ms = Date.parse(text)
  return { seconds: Math.floor(ms / 1000), nanos: (((ms % 1000) + 1000) % 1000) * 1_000_000 }
}

function duration(text: string): Resource {
  const seconds = Number.parseFloat(text)
  return { seconds: Math.floor(seconds), nanos: Math.round((seconds % 1) * 1e9) }
}
