import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { RunbridgeError } from '@runbridge/core'
import { type Context, Hono } from 'hono'
import type { BearerAuth } from './auth/bearer-auth.js'
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

export interface RoutesOptions {
  readonly server: RunbridgeServer
  /** Tells who calls, as `bearerAuth` makes it. Default: everybody who reaches the port is the owner `local`. */
  readonly auth?: BearerAuth
  /** Host names accepted in the Host header beside loopback names, without ports. */
  readonly allowedHosts?: readonly string[]
  /** Host names accepted in the Origin header beside loopback names, without scheme and port. */
  readonly allowedOrigins?: readonly string[]
  /** Default none. */
  readonly routes?: readonly Route[]
  /** How long a `subscriptions/listen` may last: see `RequestOptions`. */
  readonly listenMs?: (request: Request) => number | undefined
}

/** The routes without a socket, for tests and other runtimes. */
export function routes(options: RoutesOptions): Hono {
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
    const listenMs = options.listenMs?.(req.raw)
    const bounds = listenMs === undefined ? {} : { listenMs }
    if (!auth) return server.handler(req.raw, bounds)
    const authInfo = await auth.authenticate(req.raw)
    if (authInfo instanceof Response) return authInfo
    return auth.bounded(req.raw, authInfo, await server.handler(req.raw, { authInfo, ...bounds }))
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
