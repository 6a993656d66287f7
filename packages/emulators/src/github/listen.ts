import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { control, controlPrefix } from './control.js'
import { type Incoming, type Outgoing, type Responder, respond } from './respond.js'

const maxBodyBytes = 1_048_576
const blobPrefix = '/_blobs/'
/** Below the root as on github.com, or where GitHub Enterprise Server has it. */
const enterprisePrefix = '/api/v3'

/** A name that a web page could have made to point here is none of these. */
const loopbackHost = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/

export interface Listening {
  readonly url: string
  close(): Promise<void>
}

/** Serves the API, what it redirects to and the control routes on loopback. Port 0 takes one from the system. */
export async function listen(responder: Responder, port: number): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    serve(responder, incoming, outgoing).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${bound}`, close: () => closeServer(server) }
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

async function serve(
  responder: Responder,
  message: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (!loopbackHost.test(message.headers.host ?? '')) {
    return sendJson(outgoing, 403, { message: 'This emulator answers to 127.0.0.1 and localhost only.' })
  }
  const url = new URL(message.url ?? '/', 'http://localhost')
  const body = await bodyOf(message)
  if (body === undefined) return sendJson(outgoing, 413, { message: `More than ${maxBodyBytes} bytes` })
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
  switch (answer.kind) {
    case 'reply':
      if (answer.body !== undefined) sendJson(outgoing, answer.status, answer.body, answer.headers)
      else outgoing.writeHead(answer.status, answer.headers).end()
      return
    case 'page':
      outgoing.writeHead(answer.status, { 'content-type': 'text/html' })
      outgoing.end(`<html><body>${answer.status}</body></html>`)
      return
    case 'reset':
      outgoing.socket?.resetAndDestroy()
      return
    case 'nothing':
      return
  }
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

async function bodyOf(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= maxBodyBytes) chunks.push(chunk)
  }
  return size <= maxBodyBytes ? Buffer.concat(chunks).toString('utf8') : undefined
}
