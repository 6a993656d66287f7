import type { IncomingMessage, Server } from 'node:http'
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

export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
