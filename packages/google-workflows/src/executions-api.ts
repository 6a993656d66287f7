import type { protos, v1 } from '@google-cloud/workflows'
import type { GoogleAuth } from 'google-auth-library'
import { clientFailure, EngineFailure } from './engine-failure.js'
import { TIMED_OUT } from './errors.js'

type Protos = typeof protos.google.cloud.workflows.executions.v1
export type Execution = protos.google.cloud.workflows.executions.v1.IExecution
/** The names of Execution.State, so that a new one does not compile where they are mapped. */
export type NativeState = keyof Protos['Execution']['State']

/** All that is needed of the Workflow Executions API on gRPC or its REST fallback. Throws `EngineFailure`. */
export interface ExecutionsApi {
  /** CreateExecution, sent once. */
  create(parent: string, execution: Execution, signal: AbortSignal): Promise<Execution>
  get(name: string, signal: AbortSignal): Promise<Execution>
  /**
   * Every execution that the filter lets through, newest first, with its labels.
   * @param since only those that began after it, in ms since the epoch, and perhaps some before
   */
  list(parent: string, filter: string, signal: AbortSignal, since?: number): Promise<readonly Execution[]>
  cancel(name: string, signal: AbortSignal): Promise<Execution>
}

type Client = Pick<
  v1.ExecutionsClient,
  'createExecution' | 'getExecution' | 'listExecutions' | 'cancelExecution'
>
type Credentials = Pick<GoogleAuth, 'getRequestHeaders'>

/** The most that Google returns at once in the view that holds labels. */
const PAGE_SIZE = 100

/**
 * Google's client, which retries nothing by its own configuration and knows no signals: a call is given up when the
 * signal aborts, and its answer dropped.
 * @param timeoutMs after which the client itself gives up on gRPC
 */
export function executionsApi(client: Client, auth: Credentials, timeoutMs: number): ExecutionsApi {
  const options = { timeout: timeoutMs }

  async function once<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    await ready(auth, signal)
    return unlessAborted(send(), signal, () => new EngineFailure('NO_ANSWER', TIMED_OUT)).catch((thrown) => {
      throw clientFailure(thrown)
    })
  }

  return {
    create: (parent, execution, signal) =>
      once(signal, async () => (await client.createExecution({ parent, execution }, options))[0]),
    get: (name, signal) => once(signal, async () => (await client.getExecution({ name }, options))[0]),
    cancel: (name, signal) => once(signal, async () => (await client.cancelExecution({ name }, options))[0]),
    async list(parent, filter, signal, since = 0) {
      const found: Execution[] = []
      let pageToken = ''
      do {
        const request = { parent, filter, view: 'FULL', pageSize: PAGE_SIZE, pageToken } as const
        const [page, , { nextPageToken }] = await once(signal, () =>
          client.listExecutions(request, { ...options, autoPaginate: false }),
        )
        found.push(...page)
        const oldest = Number(page.at(-1)?.startTime?.seconds ?? 0) * 1000
        pageToken = oldest < since ? '' : (nextPageToken ?? '')
      } while (pageToken !== '')
      return found
    },
  }
}

/** Fetches the credentials, so that their failure is told from one of the call: then nothing was sent. */
export async function ready(auth: Credentials, signal: AbortSignal, url?: string): Promise<Headers> {
  const late = () => new EngineFailure('NOT_SENT', TIMED_OUT)
  if (signal.aborted) throw late()
  return unlessAborted(auth.getRequestHeaders(url), signal, late).catch((thrown: unknown) => {
    throw thrown instanceof EngineFailure ? thrown : new EngineFailure('NOT_SENT', credentialsProblem(thrown))
  })
}

/** The library's texts hold paths and hints; of them only the kind is passed on. */
function credentialsProblem(thrown: unknown): string {
  const { message, code } = thrown as { message?: unknown; code?: unknown }
  const text = String(message ?? '')
  if (/default credentials/.test(text)) return 'none found'
  if (/ENOENT|no such file/.test(text)) return 'the key file is not there'
  return /^[\w.-]{1,40}$/.test(String(code)) ? String(code) : 'not usable'
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, failure: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(failure())
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
