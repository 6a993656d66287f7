import { RunbridgeError } from '@runbridge/core'
import type { GitHubClient } from './clients.js'
import type { Engine } from './engine.js'
import { type Asked, limitedForMs, paused, statusOf } from './errors.js'
import { remember } from './remember.js'

type Values = Readonly<Record<string, string | number | boolean | undefined>>

export interface Sent extends Asked {
  readonly client: GitHubClient
  /** In Octokit's words: `GET /repos/{owner}/{repo}`. */
  readonly route: string
  /** What the path names. */
  readonly path: Values
  readonly query?: Values
  readonly body?: Readonly<Record<string, unknown>>
  /** Asks for what changed since. */
  readonly etag?: string | undefined
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly data: unknown
  readonly etag?: string
  readonly location?: string
}

const NOT_SENT = Symbol('not sent')

/** Whether the request never left: nothing that it asks for can have happened. */
export function wasNotSent(thrown: unknown): boolean {
  return typeof thrown === 'object' && thrown !== null && NOT_SENT in thrown
}

/** Redirects that keep the method. GitHub answers with them for a renamed repository, and has done nothing then. */
const MOVED = [301, 307, 308]

/**
 * One request, sent once. A redirect within the API is followed with the same method, any other is given back. Throws
 * what Octokit throws, marked where nothing was sent.
 */
export async function send(engine: Engine, sent: Sent): Promise<Answer> {
  const left = (engine.pauses.get(sent.client) ?? 0) - engine.now()
  if (left > 0) throw notSent(paused(sent, left))
  const transport = trackedFetch()
  const leaving = whenLeft(sent.signal)
  try {
    const { path, query, body } = sent
    const first = await request(sent, transport, leaving.left, sent.route, { ...path, ...query, ...body })
    if (first.location === undefined || !MOVED.includes(first.status)) return first
    const target = await redirectTarget(engine, sent, first.location)
    const [method = 'GET'] = sent.route.split(' ')
    return await request(sent, transport, leaving.left, `${method} ${target}`, { ...body })
  } catch (thrown) {
    const limited = limitedForMs(thrown, engine.now())
    if (limited !== undefined) {
      for (const client of sameCredential(engine, sent.client)) {
        engine.pauses.set(client, engine.now() + limited)
      }
    }
    throw transport.sent() ? thrown : notSent(thrown)
  } finally {
    leaving.done()
  }
}

/** GitHub limits credentials, whatever they are used for. */
function sameCredential({ clients }: Engine, client: GitHubClient): readonly GitHubClient[] {
  return client === clients.reviewer ? [client] : [clients.reads, clients.writes]
}

async function request(
  { client, etag, signal }: Sent,
  transport: { readonly fetch: typeof fetch },
  left: Promise<never>,
  route: string,
  params: object,
): Promise<Answer> {
  const answering = client.request(route, {
    ...params,
    ...(etag !== undefined && { headers: { 'if-none-match': etag } }),
    request: { signal, redirect: 'manual', fetch: transport.fetch },
  })
  const { status, data, headers } = await Promise.race([answering, left])
  return {
    status,
    data,
    ...(typeof headers.etag === 'string' && { etag: headers.etag }),
    ...(typeof headers.location === 'string' && { location: headers.location }),
  }
}

/** The credential goes to no other host. */
async function redirectTarget(
  engine: Engine,
  { client, route, what }: Sent,
  location: string,
): Promise<string> {
  const base = new URL(client.request.endpoint(route.replace(/\{\w+\}/g, 'x')).url)
  const target = new URL(location, base)
  if (target.origin !== base.origin) {
    throw new RunbridgeError('unavailable', `GitHub sent ${what} to another host, which is not followed.`)
  }
  engine.warn(`GitHub has moved ${what} elsewhere; write the repository's new name in the configuration.`)
  return target.href
}

/** Knows whether a request left; one whose caller has left does not. */
function trackedFetch(): { readonly fetch: typeof fetch; sent(): boolean } {
  let sent = false
  return {
    sent: () => sent,
    fetch: (input, init) => {
      init?.signal?.throwIfAborted()
      sent = true
      return fetch(input, init)
    },
  }
}

/** Rejects when the caller leaves, also while the request still waits in a queue. */
function whenLeft(signal: AbortSignal): { readonly left: Promise<never>; done(): void } {
  let leave: () => void = () => undefined
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason)
  })
  left.catch(() => undefined)
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  return { left, done: () => signal.removeEventListener('abort', leave) }
}

function notSent(thrown: unknown): Error {
  const error = thrown instanceof Error ? thrown : new Error('not sent', { cause: thrown })
  return Object.assign(error, { [NOT_SENT]: true })
}

export type Fresh =
  | { readonly kind: 'changed'; readonly data: unknown; readonly etag: string | undefined }
  | { readonly kind: 'same' }

/** A read that costs no quota where nothing changed: https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate */
export async function readIfChanged(engine: Engine, sent: Sent): Promise<Fresh> {
  try {
    const { data, etag } = await send(engine, sent)
    return { kind: 'changed', data, etag }
  } catch (thrown) {
    if (statusOf(thrown) === 304) return { kind: 'same' }
    throw thrown
  }
}

const MOST_READ = 200

/** The same for what changes seldom: what was read last is kept here. */
export async function readKept(engine: Engine, sent: Sent): Promise<unknown> {
  const key = JSON.stringify([sent.route, sent.path, sent.query])
  const kept = engine.read.get(key)
  const fresh = await readIfChanged(engine, { ...sent, etag: kept?.etag })
  if (fresh.kind === 'same') return kept?.data
  if (fresh.etag !== undefined) remember(engine.read, key, { etag: fresh.etag, data: fresh.data }, MOST_READ)
  return fresh.data
}
