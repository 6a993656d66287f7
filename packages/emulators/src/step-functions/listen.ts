import type { IncomingMessage, ServerResponse } from 'node:http'
import { controlPrefix } from '../common/control.js'
import {
  bodyOf,
  isForLoopback,
  type Listening,
  MAX_BODY_BYTES,
  sendFaulty,
  serveHttp,
} from '../common/http.js'
import { control } from './control.js'
import { type Answer, type Dispatcher, dispatch } from './dispatch.js'
import type { Request } from './operations/operation.js'

const targetPrefix = 'AWSStepFunctions.'
const contentType = 'application/x-amz-json-1.0'

/** Serves AWS JSON 1.0 and the control routes on loopback. Port 0 takes one from the system. */
export function listen(dispatcher: Dispatcher, port: number): Promise<Listening> {
  return serveHttp((incoming, outgoing) => serve(dispatcher, incoming, outgoing), port)
}

async function serve(
  dispatcher: Dispatcher,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (!isForLoopback(incoming)) {
    const message = 'This emulator answers to 127.0.0.1 and localhost only.'
    return sendJson(outgoing, 403, { __type: 'AccessDeniedException', message })
  }
  const body = await bodyOf(incoming)
  if (body === undefined) {
    return sendJson(outgoing, 413, {
      __type: 'RequestEntityTooLarge',
      message: `More than ${MAX_BODY_BYTES} bytes`,
    })
  }
  const path = new URL(incoming.url ?? '/', 'http://localhost').pathname
  if (path.startsWith(controlPrefix)) {
    const [status, json] = control(dispatcher, incoming.method ?? 'GET', path, body)
    return sendJson(outgoing, status, json, 'application/json')
  }
  const target = String(incoming.headers['x-amz-target'] ?? '')
  if (incoming.method !== 'POST' || !target.startsWith(targetPrefix)) {
    const message = `Send a POST with X-Amz-Target: ${targetPrefix}<action>, as the AWS SDKs do.`
    return sendJson(outgoing, 400, { __type: 'UnknownOperationException', message })
  }
  const request = parsed(body)
  if (!request)
    return sendJson(outgoing, 400, {
      __type: 'SerializationException',
      message: 'The body is not a JSON object',
    })
  send(
    outgoing,
    await dispatch(dispatcher, target.slice(targetPrefix.length), request),
    dispatcher.state.newId(),
  )
}

function send(outgoing: ServerResponse, answer: Answer, requestId: string): void {
  outgoing.setHeader('x-amzn-RequestId', requestId)
  if (answer.kind === 'json') sendJson(outgoing, answer.status, answer.body)
  else sendFaulty(outgoing, answer)
}

function sendJson(outgoing: ServerResponse, status: number, json: unknown, type = contentType): void {
  outgoing.writeHead(status, { 'content-type': type })
  outgoing.end(JSON.stringify(json))
}

function parsed(body: string): Request | undefined {
  try {
    const json: unknown = JSON.parse(body === '' ? '{}' : body)
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Request) : undefined
  } catch {
    return undefined
  }
}
