import { Server } from '@modelcontextprotocol/server'
import type { App } from './app.js'
import { resourceCapability, serveResources } from './serve-resources.js'
import { serveTools } from './serve-tools.js'

/**
 * One server for one request of a host that speaks an older era, without a session: the plain path, with no
 * questions to the host, since it could not be told which of its requests an answer belongs to.
 */
export function plainServer(app: App): Server {
  const server = new Server(app.info, {
    capabilities: { tools: {}, ...resourceCapability(app) },
    ...(app.instructions !== undefined && { instructions: app.instructions }),
  })
  serveTools(server, app, 'legacy')
  serveResources(server, app, 'legacy')
  return server
}
