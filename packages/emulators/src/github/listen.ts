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
import { type Incoming, type Outgoing, type Responder, respond } from './respond.js'

const blobPrefix = '/_blobs/'
/** Below the root as on github.com, or where GitHub Enterprise Server has it. */
const enterprisePrefix = '/api/v3'

/** Serves the API, what it redirects to and the control routes on loopback. Port 0 takes one from the system. */
export function listen(responder: Responder, port: number): Promise<Listening> {
  return serveHttp((incoming, outgoing) => serve(responder, incoming, outgoing), port)
}

async function serve(
  responder: Responder,
  message: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (!isForLoopback(message)) {
    return sendJson(outgoing, 403, { message: 'This emulator answers to 127.0.0.1 and localhost only.' })
  }
  const url = new URL(message.url ?? '/', 'http://localhost')
  const body = await bodyOf(message)
  if (body === undefined) return sendJson(outgoing, 413, { message: `More than ${MAX_BODY_BYTES} bytes` })
  const method = message.method ?? 'GET'
  if (url.pathname.startsWith(controlPrefix)) {
    const [status, json] = control(responder, method, url.pathname, body)
    return sendJson(outgoing, status, json)
  }
  if (url.pathname.startsWith(blobPrefix)) return sendBlob(responder, message, url.pathname, outgoing)
  const path = url.pathname.startsWith(`${enterprisePrefix}/`)
    ? url.pathname.slice(enterprisePrefix.length)
    : url.pathname
  const incoming: Incoming = {
    method,
    path,
    query: url.searchParams,
    headers: message.headers as Incoming['headers'],
    body,
  }
  send(outgoing, await respond(responder, incoming))
}

/** The storage behind redirects: it refuses requests that bring GitHub's own credentials. */
function sendBlob(
  { state }: Responder,
  message: IncomingMessage,
  path: string,
  outgoing: ServerResponse,
): void {
  const blob = state.blobs.get(path.slice(blobPrefix.length))
  if (message.headers.authorization !== undefined) {
    sendJson(outgoing, 400, { message: 'Authorization is not for this host' })
  } else if (!blob) {
    sendJson(outgoing, 404, { message: 'BlobNotFound' })
  } else {
    outgoing.writeHead(200, { 'content-type': blob.type, 'content-length': String(blob.data.length) })
    outgoing.end(blob.data)
  }
}

function send(outgoing: ServerResponse, answer: Outgoing): void {
  if (answer.kind !== 'reply') sendFaulty(outgoing, answer)
  else if (answer.body !== undefined) sendJson(outgoing, answer.status, answer.body, answer.headers)
  else outgoing.writeHead(answer.status, answer.headers).end()
}

function sendJson(
  outgoing: ServerResponse,
  status: number,
  json: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  outgoing.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
  outgoing.end(JSON.stringify(json))
}
