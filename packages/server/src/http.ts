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
import { type Context, Hono } from 'hono'
import type { BearerAuth } from './auth/bearer-auth.js'
import { refuseOpenBind } from './auth/open-bind.js'
import type { RunbridgeServer } from './create-server.js'

/**
 * A route beside MCP that others call from outside, such as a webhook. It tells for itself who calls, as by a signature:
 * neither the Host header, which is the outer name then, nor tokens are checked for it.
 */
export interface Route {
  /** An exact path, such as `/webhooks/github`. */
  readonly path: string
  handle(request: Request): Promise<Response>
}

export interface HttpOptions {
  readonly server: RunbridgeServer
  /** Anything but a loopback address needs `auth` with a `resourceUrl`. Default `127.0.0.1`. */
  readonly host?: string
  /** 0 lets the system choose. Default 0. */
  readonly port?: number
  /** Tells who calls, as `bearerAuth` makes it. Default: everybody who reaches the port is the owner `local`. */
  readonly auth?: BearerAuth
  /** Host names accepted in the Host header beside loopback names, without ports. */
  readonly allowedHosts?: readonly string[]
  /** Host names accepted in the Origin header beside loopback names, without scheme and port. */
  readonly allowedOrigins?: readonly string[]
  /** Default none. */
  readonly routes?: readonly Route[]
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

/** The routes without a socket, for tests and other runtimes. */
export function routes(options: HttpOptions): Hono {
  const { server, auth } = options
  const own = auth?.resourceUrl ? [auth.resourceUrl.hostname] : []
  const hosts = [...localhostAllowedHostnames(), ...own, ...(options.allowedHosts ?? [])]
  const origins = [...localhostAllowedOrigins(), ...own, ...(options.allowedOrigins ?? []).map(hostName)]
  const app = new Hono()
  // Before the check of hosts: probes address a container by its own address.
  app.get('/healthz', (c) => c.text('ok'))
  app.get('/readyz', async (c) => {
    const reason = await server.unready()
    return reason === undefined ? c.text('ready') : c.text(reason, 503)
  })
  if (auth) {
    for (const path of auth.metadataPaths)
      app.on(['GET', 'OPTIONS'], path, ({ req }: Context) => auth.metadata(req.raw))
  }
  for (const { path, handle } of ownPaths(options.routes ?? [])) {
    app.all(path, (c) => originValidationResponse(c.req.raw, origins) ?? handle(c.req.raw))
  }
  app.use(async (c, next) => {
    const refused =
      hostHeaderValidationResponse(c.req.raw, hosts) ?? originValidationResponse(c.req.raw, origins)
    return refused ?? next()
  })
  app.all('/mcp', async ({ req }) => {
    if (!auth) return server.handler(req.raw)
    const authInfo = await auth.authenticate(req.raw)
    if (authInfo instanceof Response) return authInfo
    return auth.bounded(req.raw, authInfo, await server.handler(req.raw, { authInfo }))
  })
  return app
}

/** Throws `misconfigured` for a path that is not a plain one, or is taken. */
function ownPaths(routes: readonly Route[]): readonly Route[] {
  const taken = new Set(['/mcp', '/healthz', '/readyz'])
  for (const { path } of routes) {
    if (!/^(\/[A-Za-z0-9_-]+)+$/.test(path) || taken.has(path)) {
      const message = `The path ${JSON.stringify(path)} can not be served; write one such as /webhooks/github that nothing else has.`
      throw new RunbridgeError('misconfigured', message)
    }
    taken.add(path)
  }
  return routes
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
