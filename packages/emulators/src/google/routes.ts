import type { Operation } from './faults.js'
import type { Request } from './operations.js'

interface Route {
  readonly method: string
  readonly path: RegExp
  readonly operation: Operation
  request(names: readonly string[], query: Readonly<Record<string, string>>, body: unknown): Request
}

const LOCATION = '(projects/[^/]+/locations/[^/]+)'
const WORKFLOW = '(projects/[^/]+/locations/[^/]+/workflows/[^/:]+)'
const EXECUTION = '(projects/[^/]+/locations/[^/]+/workflows/[^/]+/executions/[^/:]+)'
const at = (path: string) => new RegExp(`^/v1/${path}$`)
const named = ([name]: readonly string[], query: Readonly<Record<string, string>>) => ({ ...query, name })
const below = ([parent]: readonly string[], query: Readonly<Record<string, string>>) => ({ ...query, parent })

/** The HTTP bindings of the protos, and those of the methods that only REST has. */
const ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: at(`${WORKFLOW}/executions`),
    operation: 'CreateExecution',
    request: ([parent], _, execution) => ({ parent, execution }),
  },
  { method: 'GET', path: at(`${WORKFLOW}/executions`), operation: 'ListExecutions', request: below },
  { method: 'GET', path: at(EXECUTION), operation: 'GetExecution', request: named },
  { method: 'POST', path: at(`${EXECUTION}:cancel`), operation: 'CancelExecution', request: named },
  { method: 'GET', path: at(`${EXECUTION}/callbacks`), operation: 'ListCallbacks', request: below },
  { method: 'GET', path: at(`${EXECUTION}/stepEntries`), operation: 'ListStepEntries', request: below },
  { method: 'GET', path: at(WORKFLOW), operation: 'GetWorkflow', request: named },
  { method: 'GET', path: at(`${LOCATION}/workflows`), operation: 'ListWorkflows', request: below },
]
const CALLBACK = at(`${EXECUTION}/callbacks/([^/]+)`)

export interface Routed {
  readonly operation: Operation
  readonly request: Request
}

/** Which call an HTTP request is, or undefined. */
export function route(
  method: string,
  path: string,
  query: Readonly<Record<string, string>>,
  body: unknown,
): Routed | undefined {
  const [, parent, callback] = CALLBACK.exec(path) ?? []
  if (parent !== undefined) {
    return { operation: 'SendCallback', request: { parent, callback, method, body, query } }
  }
  for (const each of ROUTES) {
    const names = each.method === method ? each.path.exec(path)?.slice(1) : undefined
    if (names) return { operation: each.operation, request: each.request(names, query, body) }
  }
  return undefined
}
