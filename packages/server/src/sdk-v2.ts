import type { Server } from '@modelcontextprotocol/server'
import { EXTENSION_ID } from '@runbridge/core/wire/ext-tasks'
import { appOf } from './app-of.js'
import type { Era } from './caller.js'
import type { RunbridgeServer } from './create-server.js'
import { serveTasks } from './modern.js'
import { resourceCapability, serveResources } from './serve-resources.js'
import { type OtherTools, serveTools } from './serve-tools.js'

export type { Era, OtherTools }

export interface AddToolsOptions {
  /** Of the server, as the factories of `createMcpHandler` and `serveStdio` are told. */
  readonly era: Era
  /**
   * The server's own tools. A low-level server has one handler for each method, and `tools/list` and `tools/call` are
   * taken here. Default: none.
   */
  readonly others?: OtherTools
  /** Whether the results and logs of tasks are its resources; false for a server that has resources itself. Default true. */
  readonly resources?: boolean
}

/**
 * Puts the tools of a Runbridge server on a low-level `Server` of @modelcontextprotocol/server 2.x, before it is connected:
 * with tasks on the era of 2026-07-28, by the plain path on those before. Whoever is logged in there (`authInfo`) is
 * the owner here. Subscriptions to tasks need the transport, so that clients poll.
 */
export function addTools(server: Server, runbridge: RunbridgeServer, options: AddToolsOptions): void {
  const { era, others, resources = true } = options
  const app = appOf(runbridge)
  server.registerCapabilities({
    tools: {},
    ...(resources && resourceCapability(app)),
    ...(era === 'modern' && { extensions: { [EXTENSION_ID]: {} } }),
  })
  serveTools(server, app, era, others ? { others } : {})
  if (resources) serveResources(server, app, era)
  if (era === 'modern') serveTasks(server, app)
}
