import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
  type ServerCapabilities,
} from '@modelcontextprotocol/server'
import { RunbridgeError } from '@runbridge/core'
import type { App } from './app.js'
import { callerOf, type Era } from './caller.js'
import { answered } from './serve-tools.js'
import { listedResources, parseTaskUri, readTaskResource, resourceTemplates } from './task-resources.js'

/** Declared where tools become tasks, since it is tasks that have results and logs to read. */
export function resourceCapability(app: Pick<App, 'tools'>): Pick<ServerCapabilities, 'resources'> {
  const tasks = [...app.tools.values()].some(({ tool }) => tool.taskSupport !== 'forbidden')
  return tasks ? { resources: {} } : {}
}

/** Answers the methods of resources on a server of either era that declares them. */
export function serveResources(server: Server, app: App, era: Era): void {
  if (!resourceCapability(app).resources) return
  /** What depends on the caller is private (2026-07-28 server/utilities/caching). */
  const hints = (ttlMs: number) => (era === 'modern' ? { ttlMs, cacheScope: 'private' as const } : {})

  server.setRequestHandler('resources/list', async ({ params }) => {
    refuseCursor(params?.cursor)
    return { resources: listedResources(app), ...hints(app.limits.listTtlMs) } as never
  })
  server.setRequestHandler('resources/templates/list', async ({ params }) => {
    refuseCursor(params?.cursor)
    return { resourceTemplates: resourceTemplates(app), ...hints(app.limits.listTtlMs) } as never
  })
  server.setRequestHandler('resources/read', ({ params: { uri } }, ctx) =>
    answered(app, async () => {
      const caller = callerOf(app, ctx, era)
      const resource = parseTaskUri(uri)
      if (!resource) throw new ResourceNotFoundError(uri)
      try {
        const read = () => readTaskResource(app, resource, caller)
        const { ttlMs, ...contents } = await app.gate.call(caller.owner, read)
        return { contents: [{ uri, ...contents }], ...hints(ttlMs) } as never
      } catch (thrown) {
        throw notFound(uri, thrown) ?? thrown
      }
    }),
  )
}

/** A missing resource is -32602 with its URI, in words that are the same for an unknown and a foreign task. */
function notFound(uri: string, thrown: unknown): Error | undefined {
  if (!(thrown instanceof RunbridgeError)) return undefined
  if (thrown.code === 'task_not_found') return new ResourceNotFoundError(uri)
  return thrown.code === 'unsupported' ? new ResourceNotFoundError(uri, thrown.message) : undefined
}

function refuseCursor(cursor: string | undefined): void {
  // There is one page, so no cursor is ours.
  if (cursor === undefined) return
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'params.cursor is not a cursor of this server.')
}
