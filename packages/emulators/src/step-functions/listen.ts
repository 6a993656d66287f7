import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { control, controlPrefix } from './control.js'
import { type Answer, type Dispatcher, dispatch } from './dispatch.js'
import type { Request } from './operations/operation.js'

/** AWS refuses larger requests too: 1 MB. */
const maxBodyBytes = 1_048_576

const targetPrefix = 'AWSStepFunctions.'
const contentType = 'application/x-amz-json-1.0'

/** A name that a web page could have made to point here is none of these. */
const loopbackHost = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/

export interface Listening {
  url: string
  close(): Promise<void>
}

/** Serves AWS JSON 1.0 and the control routes on loopback. Port 0 takes one from the system. */
export async function listen(dispatcher: Dispatcher, port: number): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    serve(dispatcher, incoming, outgoing).catch(() => outgoing.destroy())
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
  dispatcher: Dispatcher,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (!loopbackHost.test(incoming.headers.host ?? '')) {
    const message = 'This emulator answers to 127.0.0.1 and localhost only.'
    return sendJson(outgoing, 403, { __type: 'AccessDeniedException', message })
  }
  const body = await bodyOf(incoming)
  if (body === undefined) {
    return sendJson(outgoing, 413, {
      __type: 'RequestEntityTooLarge',
      message: `More than ${maxBodyBytes} bytes`,
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
  switch (answer.kind) {
    case 'json':
      sendJson(outgoing, answer.status, answer.body)
      return
    case 'status':
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

function sendJson(outgoing: ServerResponse, status: number, json: unknown, type = contentType): void {
  outgoing.writeHead(status, { 'content-type': type })
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

function parsed(body: string): Request | undefined {
  try {
    const json: unknown = JSON.parse(body === '' ? '{}' : body)
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Request) : undefined
  } catch {
    return undefined
  }
}
