import type { App } from './app.js'
import type { RunbridgeServer } from './create-server.js'

const apps = new WeakMap<RunbridgeServer, App>()

/** Remembers what a server is made of, for the entry points that put its tools on servers of others. */
export function withApp(server: RunbridgeServer, app: App): RunbridgeServer {
  apps.set(server, app)
  return server
}

export function appOf(server: RunbridgeServer): App {
  const app = apps.get(server)
  if (!app) throw new Error('This server was not made by createServer of this package.')
  return app
}
