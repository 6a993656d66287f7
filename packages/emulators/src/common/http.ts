import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as SocketServer } from 'node:net'

/** AWS refuses larger requests too: 1 MB. */
export const MAX_BODY_BYTES = 1_048_576

/** A name that a web page could have made to point here is none of these. */
const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/

export function isForLoopback({ headers }: IncomingMessage): boolean {
  return LOOPBACK_HOST.test(headers.host ?? '')
}

/** The whole body as text; undefined where it is larger than `MAX_BODY_BYTES`. */
export async function bodyOf(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString('utf8') : undefined
}

/** Listens on loopback; port 0 takes one from the system. Returns the port. */
export async function listenOnLoopback(server: SocketServer, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}

export interface Listening {
  readonly url: string
  close(): Promise<void>
}

/** An HTTP server on loopback; port 0 takes one from the system. A request that `serve` can't finish is cut off. */
export async function serveHttp(
  serve: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>,
  port: number,
): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const bound = await listenOnLoopback(server, port)
  return {
    url: `http://127.0.0.1:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** What a fault shows instead of an answer of the API. */
export type Faulty =
  /** A page, as from a proxy. */
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'reset' }
  /** No answer until the stand-in closes. */
  | { readonly kind: 'nothing' }

export function sendFaulty(outgoing: ServerResponse, faulty: Faulty): void {
  if (faulty.kind === 'status') {
    outgoing.writeHead(faulty.status, { 'content-type': 'text/html' })
    outgoing.end(`<html><body>${faulty.status}</body></html>`)
  } else if (faulty.kind === 'reset') {
    outgoing.socket?.resetAndDestroy()
  }
}
