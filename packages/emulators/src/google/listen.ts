import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { listenOnLoopback } from '../common/http.js'
import type { Dispatcher } from './dispatch.js'
import { serveGrpc } from './serve-grpc.js'
import { serveRest } from './serve-rest.js'

/** How an HTTP/2 connection without TLS begins: RFC 9113, section 3.4. */
const HTTP2_PREFACE = 'PRI * HTTP/2.0'

export interface Listening {
  readonly port: number
  close(): Promise<void>
}

/**
 * One port on loopback for both surfaces: what begins as HTTP/2 goes to the gRPC server, everything else is REST. Being
 * in front, it can break a connection, which a gRPC server can't.
 */
export async function listen(dispatcher: Dispatcher, port: number): Promise<Listening> {
  /** By the port that the gRPC server sees its peer at. */
  const relayed = new Map<string, Socket>()
  const grpc = await serveGrpc(dispatcher, (peer) => relayed.get(peer)?.resetAndDestroy())
  const rest = createHttpServer((incoming, outgoing) => {
    serveRest(dispatcher, incoming, outgoing).catch(() => outgoing.destroy())
  })
  const sockets = new Set<Socket>()
  const front = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    socket.once('data', (chunk) => {
      socket.pause()
      socket.unshift(chunk)
      if (chunk.toString('latin1').startsWith(HTTP2_PREFACE)) relay(socket, grpc.port, relayed)
      else rest.emit('connection', socket)
      socket.resume()
    })
  })
  const bound = await listenOnLoopback(front, port)
  return {
    port: bound,
    async close() {
      for (const socket of sockets) socket.destroy()
      grpc.close()
      rest.close()
      await new Promise((resolve) => front.close(resolve))
    },
  }
}

function relay(socket: Socket, port: number, relayed: Map<string, Socket>): void {
  const upstream = connect(port, '127.0.0.1')
  upstream.once('connect', () => relayed.set(`127.0.0.1:${upstream.localPort}`, socket))
  upstream.once('close', () => {
    relayed.delete(`127.0.0.1:${upstream.localPort}`)
    socket.destroy()
  })
  upstream.on('error', () => socket.destroy())
  socket.once('close', () => upstream.destroy())
  socket.pipe(upstream).pipe(socket)
}
