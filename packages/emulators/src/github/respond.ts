import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Faulty } from '../common/http.js'
import type { CallLog } from './calls.js'
import {
  type ApiError,
  apiError,
  badCredentials,
  isApiError,
  notAccessible,
  notFound,
  primaryLimit,
  secondaryLimit,
} from './errors.js'
import type { Fault, FaultScript } from './faults.js'
import { answerApp } from './operations/app.js'
import { matchOperation, type OperationName, operations } from './operations/index.js'
import type { Operation, Reply } from './operations/operation.js'
import type { Quota } from './quota.js'
import type { Repository } from './repository.js'
import type { EmulatorState, Token } from './state.js'

export interface Incoming {
  readonly method: string
  /** Below the API's root, without a query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

export type Outgoing =
  | (Reply & { readonly kind: 'reply' })
  /** Not JSON. */
  | Faulty

/** A request that reached an operation, and its reply: what GitHub's description can be held against. */
export interface Exchange {
  readonly operation: OperationName
  /** The full path with its query. */
  readonly url: string
  readonly requestBody: unknown
  readonly status: number
  readonly body: unknown
}

export interface Responder {
  readonly state: EmulatorState
  readonly faults: FaultScript
  readonly calls: CallLog
  readonly quota: Quota
  /** Aborted when the emulator closes. */
  readonly closing: AbortSignal
  readonly onExchange: (exchange: Exchange) => void
}

const ANYBODY: Token = { login: 'octocat' }

/** Answers one request of the API: authorises, counts, lets its fault act, executes, and compares ETags. */
export async function respond(responder: Responder, incoming: Incoming): Promise<Outgoing> {
  const { state, faults, calls, closing } = responder
  try {
    const app = answerApp(state, incoming.method, incoming.path, incoming.headers.authorization ?? '')
    if (app) return { kind: 'reply', ...app }
  } catch (thrown) {
    return failed(thrown)
  }
  const target = locate(state, incoming)
  if (target.kind !== 'operation') return target.outgoing
  const { name, repository, params } = target
  const body = parsed(incoming.body)
  calls.arrived(name, body)
  const fault = faults.take(name)
  if (fault?.kind === 'delayMs') await wait(fault.ms, undefined, { signal: closing }).catch(() => undefined)
  if (closing.aborted) return { kind: 'reset' }
  const instead = fault && withoutEffect(fault, state)
  if (instead) return instead
  const outgoing = execute(responder, incoming, { name, repository, params, body })
  if (fault?.kind === 'hide') hideNewest(repository, fault.looks)
  if (fault?.kind === 'dropAfterExecuting') return { kind: 'reset' }
  return fault?.kind === 'hang' ? { kind: 'nothing' } : outgoing
}

type Target =
  | { kind: 'operation'; name: OperationName; repository: Repository; params: Record<string, string> }
  | { kind: 'elsewhere'; outgoing: Outgoing }

/** The operation and its repository; a renamed one is redirected to its id, as GitHub does. */
function locate(state: EmulatorState, { method, path, query }: Incoming): Target {
  const elsewhere = (outgoing: Outgoing): Target => ({ kind: 'elsewhere', outgoing })
  const byId = /^\/repositories\/(\d+)(\/.*)?$/.exec(path)
  const canonical = byId ? state.repositories.find(({ id }) => id === Number(byId[1])) : undefined
  const named = canonical ? `/repos/${canonical.owner}/${canonical.name}${byId?.[2] ?? ''}` : path
  const found = matchOperation(method, named)
  if (!found) return elsewhere(failed(notFound()))
  const fullName = `${found.params.owner}/${found.params.repo}`.toLowerCase()
  const moved = state.renamed.get(fullName)
  if (moved) {
    const rest = named.split('/').slice(4).join('/')
    const search = query.size > 0 ? `?${query}` : ''
    const location = `${state.place.api}/repositories/${moved.id}${rest === '' ? '' : `/${rest}`}${search}`
    const body = { message: 'Moved Permanently', url: location, documentation_url: 'https://docs.github.com' }
    return elsewhere({
      kind: 'reply',
      status: method === 'GET' ? 301 : 307,
      body,
      headers: { location },
    })
  }
  const repository = state.repositories.find(
    ({ owner, name }) => `${owner}/${name}`.toLowerCase() === fullName,
  )
  if (!repository) return elsewhere(failed(notFound()))
  return { kind: 'operation', name: found.name, repository, params: found.params }
}

function withoutEffect(fault: Fault, state: EmulatorState): Outgoing | undefined {
  switch (fault.kind) {
    case 'error':
      return failed(apiError(fault.status, fault.message, fault.headers))
    case 'denied':
      return failed(notAccessible('user'))
    case 'unauthorized':
      return failed(badCredentials())
    case 'hidden':
      return failed(notFound())
    case 'secondaryLimit':
      return failed(secondaryLimit(fault.retryAfter))
    case 'primaryLimit': {
      const reset = String(Math.ceil(state.now() / 1000) + fault.resetIn)
      return failed(primaryLimit('1', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }))
    }
    case 'status':
      return { kind: 'status', status: fault.status }
    case 'dropBeforeExecuting':
      return { kind: 'reset' }
    case 'hang':
      return fault.afterExecuting ? undefined : { kind: 'nothing' }
    default:
      return undefined
  }
}

interface Located {
  readonly name: OperationName
  readonly repository: Repository
  readonly params: Record<string, string>
  readonly body: unknown
}

function execute(responder: Responder, incoming: Incoming, located: Located): Outgoing {
  const { state, calls, quota, onExchange } = responder
  const { name, repository, params, body } = located
  const secret = (incoming.headers.authorization ?? '').replace(/^(token|bearer) /i, '')
  let reply: Reply
  try {
    const token = authorised(state, secret, operations[name], repository)
    const object = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
    reply = operations[name].answer({ state, token, repository, params, query: incoming.query, body: object })
  } catch (thrown) {
    reply = replyTo(thrown)
  }
  const tag = etag(reply, secret)
  const same = tag !== undefined && incoming.headers['if-none-match'] === tag
  if (!same && !quota.spend(secret)) reply = replyTo(primaryLimit('1'))
  const headers = { ...quota.headers(secret), ...reply.headers, ...(tag !== undefined && { etag: tag }) }
  const status = same && reply.status === 200 ? 304 : reply.status
  calls.answered(name, status)
  const url = `${incoming.path}${incoming.query.size > 0 ? `?${incoming.query}` : ''}`
  onExchange({
    operation: name,
    url,
    requestBody: body,
    status,
    body: status === 304 ? undefined : reply.body,
  })
  return status === 304
    ? { kind: 'reply', status, headers }
    : { kind: 'reply', status, headers, ...(reply.body !== undefined && { body: reply.body }) }
}

function authorised(
  { tokens }: EmulatorState,
  secret: string,
  { needs, method }: Operation,
  repository: Repository,
): Token {
  const token = tokens ? tokens.get(secret) : ANYBODY
  if (!token) throw badCredentials()
  const seen = token.repositories?.map((name) => name.toLowerCase())
  if (seen && !seen.includes(`${repository.owner}/${repository.name}`.toLowerCase())) throw notFound()
  if (needs && token.permissions) {
    const granted = token.permissions[needs[0]]
    const enough = needs[1] === 'read' ? granted !== undefined : granted === 'write'
    if (!enough) throw notAccessible(token.kind ?? 'user')
  }
  if (method === 'POST' && token.kind === 'app' && needs?.[0] === 'deployments') throw notAccessible('app')
  return token
}

/** Of reads alone, and different for every token, as GitHub's are. */
function etag({ status, body }: Reply, secret: string): string | undefined {
  if (status !== 200 || body === undefined) return undefined
  return `W/"${createHash('sha256').update(secret).update(JSON.stringify(body)).digest('hex')}"`
}

function hideNewest({ runs }: Repository, looks: number): void {
  const newest = [...runs.values()].at(-1)
  if (newest) newest.hiddenLooks = looks
}

function replyTo(thrown: unknown): Reply {
  const { status, body, headers }: ApiError = isApiError(thrown)
    ? thrown
    : apiError(500, String((thrown as Error)?.stack ?? thrown))
  return { status, body, ...(headers && { headers }) }
}

function failed(thrown: unknown): Outgoing {
  return { kind: 'reply', ...replyTo(thrown) }
}

function parsed(body: string): unknown {
  try {
    return body === '' ? undefined : JSON.parse(body)
  } catch {
    return undefined
  }
}
