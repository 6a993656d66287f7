import { isJsonObject, type JsonObject, RunbridgeError } from '@runbridge/core'
import type { GoogleAuth } from 'google-auth-library'
import { EngineFailure, httpFailure } from './engine-failure.js'
import { TIMED_OUT } from './errors.js'
import { ready } from './executions-api.js'

export interface RestRequest {
  /** `executions`: Workflow Executions. `workflows`: Workflows. */
  readonly api: 'executions' | 'workflows'
  readonly method: 'GET' | 'POST'
  /** Behind `/v1/`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: JsonObject
}

/** What only REST has: history levels, callbacks, step entries, workflows. Throws `EngineFailure`. */
export interface RestApi {
  send(request: RestRequest, signal: AbortSignal): Promise<JsonObject>
  /** The callback's URL as its name gives it. */
  callbackUrl(name: string): string
  /**
   * Calls a callback of the execution, once. Throws `misconfigured` for a URL that is not Google's own or belongs to
   * another execution: the server's credentials go with it.
   */
  callback(call: CallbackCall, signal: AbortSignal): Promise<void>
}

export interface CallbackCall {
  readonly url: string
  /** The full name of the execution that it must belong to. */
  readonly execution: string
  readonly method: string
  readonly payload: JsonObject
}

export const ORIGINS: Readonly<Record<RestRequest['api'], string>> = {
  executions: 'https://workflowexecutions.googleapis.com',
  workflows: 'https://workflows.googleapis.com',
}

/** Methods without a body send their payload as query parameters. */
const BODILESS = ['GET', 'HEAD', 'OPTIONS']

/** @param origins Google's own, or a stand-in's on loopback */
export function restApi(
  auth: Pick<GoogleAuth, 'getRequestHeaders'>,
  timeoutMs: number,
  origins: Readonly<Record<RestRequest['api'], string>> = ORIGINS,
): RestApi {
  async function once(url: URL, method: string, body: JsonObject | undefined, signal: AbortSignal) {
    const headers = await ready(auth, signal, url.href)
    if (body) headers.set('content-type', 'application/json')
    const response = await fetch(url, {
      method,
      headers,
      // Credentials must not follow a redirect.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      ...(body && { body: JSON.stringify(body) }),
    }).catch(noAnswer)
    const text = await response.text().catch(noAnswer)
    if (!response.ok) throw httpFailure(response.status, text)
    return text
  }

  return {
    async send({ api, method, path, query = {}, body }, signal) {
      const url = new URL(`/v1/${path}`, origins[api])
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
      const json = parsed(await once(url, method, body, signal))
      if (!json) throw new EngineFailure('NO_ANSWER', 'no JSON')
      return json
    },
    callbackUrl: (name) => `${origins.executions}/v1/${name.replace('/callback/', '/callbacks/')}`,
    async callback({ url: text, execution, method, payload }, signal) {
      const url = callbackUrlOf(text, execution, origins.executions)
      const bodiless = BODILESS.includes(method)
      if (bodiless) {
        for (const [name, value] of Object.entries(payload)) url.searchParams.set(name, String(value))
      }
      await once(url, method, bodiless ? undefined : payload, signal)
    },
  }
}

/** Google's own host over TLS, and a callback of this very execution; it may name the project by its number. */
function callbackUrlOf(text: string, execution: string, origin: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const [, place] = /^projects\/[^/]+\/(.+)$/.exec(execution) ?? []
  const inside = url && /^\/v1\/projects\/[^/]+\/(.+)\/callbacks\/[^/]+$/.exec(url.pathname)?.[1]
  if (url && url.origin === origin && url.username === '' && url.password === '' && inside === place)
    return url
  throw new RunbridgeError(
    'misconfigured',
    `The URL that was found for the callback is not one of this execution at ${new URL(origin).host}, so it is not called; look at \`urlVariable\` of the gate.`,
  )
}

function noAnswer(thrown: unknown): never {
  const { name, cause } = thrown as { name?: unknown; cause?: { code?: unknown } }
  const code = cause?.code
  const late = name === 'AbortError' || name === 'TimeoutError'
  throw new EngineFailure('NO_ANSWER', late ? TIMED_OUT : typeof code === 'string' ? code : 'no answer')
}

function parsed(text: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return isJsonObject(json) ? json : undefined
  } catch {
    return undefined
  }
}
