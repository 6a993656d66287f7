import { once } from 'node:events'
import { createServer as createNodeServer, type Server as NodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { RunbridgeError } from '@runbridge/core'
import { refuseOpenBind } from './auth/open-bind.js'
import type { RunbridgeServer } from './create-server.js'
import { type RoutesOptions, routes } from './routes.js'

export interface HttpOptions extends RoutesOptions {
  /** Anything but a loopback address needs `auth` with a `resourceUrl`. Default `127.0.0.1`. */
  readonly host?: string
  /** 0 lets the system choose. Default 0. */
  readonly port?: number
}

export interface HttpServer {
  /** Where MCP is served, such as `http://127.0.0.1:8080/mcp`. */
  readonly url: string
  /** Stops accepting, lets what is under way end (see `RunbridgeServer.close`), then closes. Idempotent. */
  close(): Promise<void>
}

/** How long answers that are on their way may take to leave at the end, in ms. */
const FLUSH_MS = 1_000

/**
 * Serves MCP over Streamable HTTP at `/mcp`, `/healthz` (the process is alive) and `/readyz` (the store can be
 * reached). Throws `misconfigured` for an address that others reach while nothing tells who calls.
 */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const { server, host = '127.0.0.1', port = 0 } = options
  refuseOpenBind(host, options.auth)
  const node = createNodeServer(getRequestListener(routes(options).fetch, { overrideGlobalObjects: false }))
  await listen(node, host, port)
  const address = node.address() as AddressInfo
  const authority = host.includes(':') ? `[${host}]` : host
  let closed: Promise<void> | undefined
  return {
    url: `http://${authority}:${address.port}/mcp`,
    close() {
      closed ??= close(node, server)
      return closed
    },
  }
}

async function listen(node: NodeServer, host: string, port: number): Promise<void> {
  node.listen(port, host)
  try {
    await once(node, 'listening')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new RunbridgeError('misconfigured', `Can not listen on ${host}:${port}: ${reason}.`, { cause })
  }
}

async function close(node: NodeServer, server: RunbridgeServer): Promise<void> {
  const ended = new Promise<void>((resolve) => node.close(() => resolve()))
  await server.close()
  const late = setTimeout(() => node.closeAllConnections(), FLUSH_MS)
  node.closeIdleConnections()
  await ended
  clearTimeout(late)
}
