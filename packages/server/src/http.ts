import { once } from 'node:events'
import { createServer as createNodeServer, type Server as NodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { RunbridgeError } from '@runbridge/core'
import { Hono } from 'hono'
import type { RunbridgeServer } from './create-server.js'

export interface HttpOptions {
  readonly server: RunbridgeServer
  /** A loopback address. Default `127.0.0.1`. */
  readonly host?: string
  /** 0 lets the system choose. Default 0. */
  readonly port?: number
  /** Host names accepted in the Host header beside loopback names, without ports. */
  readonly allowedHosts?: readonly string[]
  /** Host names accepted in the Origin header beside loopback names, without scheme and port. */
  readonly allowedOrigins?: readonly string[]
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
 * reached). Binds to loopback only, since nothing authenticates callers yet.
 */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const { server, host = '127.0.0.1', port = 0 } = options
  refusePublicBind(host)
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

/** The routes without a socket, for tests and other runtimes. */
export function routes(options: HttpOptions): Hono {
  const { server } = options
  const hosts = [...localhostAllowedHostnames(), ...(options.allowedHosts ?? [])]
  const origins = [...localhostAllowedOrigins(), ...(options.allowedOrigins ?? []).map(hostName)]
  const app = new Hono()
  app.get('/healthz', (c) => c.text('ok'))
  app.use(async (c, next) => {
    const refused =
      hostHeaderValidationResponse(c.req.raw, hosts) ?? originValidationResponse(c.req.raw, origins)
    return refused ?? next()
  })
  app.get('/readyz', async (c) => {
    const reason = await server.unready()
    return reason === undefined ? c.text('ready') : c.text(reason, 503)
  })
  app.all('/mcp', (c) => server.handler(c.req.raw))
  return app
}

function refusePublicBind(host: string): void {
  if (host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)) return
  throw new RunbridgeError(
    'misconfigured',
    `host ${JSON.stringify(host)} is not a loopback address. Nothing authenticates callers yet, so whoever reaches the port could start workflows; listen on 127.0.0.1 or ::1.`,
  )
}

/** Origins are configured with their scheme and compared by their host name. */
function hostName(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : origin
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
