import type { IncomingMessage, ServerResponse } from 'node:http'
import { controlPrefix } from '../common/control.js'
import { bodyOf, isForLoopback, sendFaulty } from '../common/http.js'
import { control } from './control.js'
import { type Answer, type Dispatcher, dispatch } from './dispatch.js'
import { type ApiError, apiError, RPC_CODES } from './errors.js'
import { withNamedEnums, withNumericEnums } from './protos.js'
import { route } from './routes.js'

/** One HTTP request: Google's REST surface, callbacks, and the control routes. */
export async function serveRest(
  dispatcher: Dispatcher,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (!isForLoopback(incoming)) {
    return sendError(outgoing, apiError('PERMISSION_DENIED', 'This emulator answers to loopback names only.'))
  }
  const text = await bodyOf(incoming)
  if (text === undefined)
    return sendError(outgoing, apiError('INVALID_ARGUMENT', 'The request is too large.'))
  const url = new URL(incoming.url ?? '/', 'http://localhost')
  const method = incoming.method ?? 'GET'
  if (url.pathname.startsWith(controlPrefix)) {
    const [status, json] = control(dispatcher, method, url.pathname, text)
    return sendJson(outgoing, status, json)
  }
  const body = parsed(text)
  if (body === invalidJson) return sendError(outgoing, apiError('INVALID_ARGUMENT', 'The body is not JSON.'))
  const query = Object.fromEntries(url.searchParams)
  const routed = route(method, decodeURIComponent(url.pathname), query, body)
  if (!routed) return sendError(outgoing, apiError('NOT_FOUND', `There is no ${method} ${url.pathname}.`))
  const answer = await dispatch(dispatcher, routed.operation, 'rest', withNamedEnums(routed.request))
  send(outgoing, answer, query.$alt === 'json;enum-encoding=int')
}

function send(outgoing: ServerResponse, answer: Answer, numericEnums: boolean): void {
  switch (answer.kind) {
    case 'resource':
      sendJson(outgoing, 200, numericEnums ? withNumericEnums(answer.resource) : answer.resource)
      return
    case 'error':
      sendError(outgoing, answer.error)
      return
    default:
      sendFaulty(outgoing, answer)
  }
}

/** https://cloud.google.com/apis/design/errors#http_mapping */
function sendError(outgoing: ServerResponse, { status, message, permission }: ApiError): void {
  const [, http] = RPC_CODES[status]
  const details = permission !== undefined && {
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'IAM_PERMISSION_DENIED',
        domain: 'iam.googleapis.com',
        metadata: { permission },
      },
    ],
  }
  sendJson(outgoing, http, { error: { code: http, message, status, ...details } })
}

function sendJson(outgoing: ServerResponse, status: number, json: unknown): void {
  outgoing.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' })
  outgoing.end(JSON.stringify(json))
}

const invalidJson = Symbol('not JSON')

function parsed(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return invalidJson
  }
}
