import {
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  Server,
  type ServerCapabilities,
} from '@modelcontextprotocol/server'
import { RunbridgeError } from '@runbridge/core'
import { jsonRpcError, parseTaskParams } from '@runbridge/core/wire/core-2025-11-25'
import * as z from 'zod'
import type { App } from '../app.js'
import { listTools } from '../list-tools.js'
import { resourceCapability, serveResources } from '../serve-resources.js'
import { answered } from '../serve-tools.js'
import { call } from './call.js'
import { formOf } from './forms.js'
import { legacyRequest } from './legacy-caller.js'
import { listTasks, notListed } from './list-tasks.js'
import { lookAt } from './look.js'
import type { Answer, LegacyRequest, OlderForm } from './older-form.js'
import { TASKS_REVISION } from './revisions.js'
import type { Session } from './session.js'

/** `CallToolRequestParams`; `arguments` is checked against the tool's own schema later. */
const callParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.json()).optional(),
  task: z.unknown().optional(),
  _meta: z.unknown().optional(),
})

type Method = (request: LegacyRequest, params: unknown) => Promise<object>

/** What goes through the fallback: the typed handlers of the SDK know no tasks of these forms. */
const METHODS: Readonly<Record<string, Method>> = {
  async 'tools/call'(request, params) {
    const parsed = callParams.safeParse(params)
    if (!parsed.success)
      throw new RunbridgeError('invalid_input', `Malformed tools/call: ${z.prettifyError(parsed.error)}`)
    const { name, arguments: args = {}, task, _meta: meta } = parsed.data
    return call(request, { name, args, task, meta })
  },
  'tasks/get': ofTask(async (request, form, key) => {
    const seen = await lookAt(request.app, key, request.caller)
    return { kind: 'result', result: form.get(seen) }
  }),
  'tasks/result': ofTask((request, form, key) => form.result(request, key)),
  'tasks/cancel': ofTask((request, form, key) => form.cancel(request, key)),
  'tasks/delete': ofTask((request, form, key) => form.remove(request, key)),
  async 'tasks/list'(request, params) {
    if (request.session.identified) return listTasks(request, params)
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, notListed().message)
  },
}

function ofTask(
  handle: (
    request: LegacyRequest,
    form: OlderForm,
    key: { readonly owner: string; readonly taskId: string },
  ) => Promise<Answer>,
): Method {
  return async (request, params) => {
    const key = { owner: request.caller.owner, ...parseTaskParams(params) }
    const form = await formOf(request.app, key)
    const answer = await answered(request.app, () => handle(request, form, key), form.jsonRpcError)
    if (answer.kind === 'result') return answer.result
    const { code, message, data } = answer.error
    throw new ProtocolError(code, message, data)
  }
}

/** One server for one session of the revisions before 2026-07-28. */
export function legacyServer(app: App, session: Session): Server {
  const server = new Server(app.info, {
    capabilities: capabilities(app, session),
    ...(app.instructions !== undefined && { instructions: app.instructions }),
  })
  server.onerror = ({ message }) => app.log.info({ reason: message }, 'a message of a session was dropped')
  server.setRequestHandler('tools/list', async (request, ctx) => {
    // There is one page, so no cursor is ours.
    if (request.params?.cursor !== undefined) {
      const message = 'params.cursor is not a cursor of this server.'
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
    }
    const { caller } = legacyRequest(app, session, ctx)
    return { tools: listTools(app, caller).map((tool) => withTaskSupport(app, session, tool)) } as never
  })
  serveResources(server, app, 'legacy')
  server.fallbackRequestHandler = async (request, ctx) => {
    const method = Object.hasOwn(METHODS, request.method) ? METHODS[request.method] : undefined
    if (!method) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found')
    const own = legacyRequest(app, session, ctx)
    session.identity = { owner: own.caller.owner, ...(own.caller.scopes && { scopes: own.caller.scopes }) }
    const result = await answered(app, () => method(own, request.params), jsonRpcError)
    return { ...result }
  }
  return server
}

/**
 * Tasks are declared to sessions of 2025-11-25 alone ("Capabilities"). The list is not offered where callers can't
 * be told apart ("Task Isolation and Access Control").
 */
function capabilities(app: App, session: Session): ServerCapabilities {
  const runs = [...app.tools.values()].some(({ tool }) => tool.taskSupport !== 'forbidden')
  if (!runs || session.protocolVersion !== TASKS_REVISION) return { tools: {}, ...resourceCapability(app) }
  const list = session.identified && app.store.lacks?.list === undefined && { list: {} }
  return {
    tools: {},
    ...resourceCapability(app),
    tasks: { ...list, cancel: {}, requests: { tools: { call: {} } } },
  } as ServerCapabilities
}

/** `execution.taskSupport` (2025-11-25 basic/utilities/tasks, "Tool-Level Negotiation"). */
function withTaskSupport(app: App, session: Session, tool: ReturnType<typeof listTools>[number]) {
  const support = app.tools.get(String(tool.name))?.tool.taskSupport
  if (session.protocolVersion !== TASKS_REVISION || support === undefined) return tool
  return { ...tool, execution: { taskSupport: support } }
}

/**
 * What has to happen at once when a client cancels one of its requests, wherever that request is served: only a
 * task of SEP-1686 is cancelled with it (4.8; 2025-11-25, "Task Cancellation", has a method for that).
 */
export async function cancelled(app: App, session: Session, requestId: RequestId): Promise<void> {
  const call = (await session.calls()).find((each) => each.requestId === requestId)
  if (call?.form !== 'sep-1686') return
  await session.state.change((record) => ({
    ...record,
    calls: record.calls.map((each) => (each.requestId === requestId ? { ...each, cancelled: true } : each)),
  }))
  const key = { owner: session.identity.owner, taskId: call.taskId }
  await app.service.cancel(key, 'The client cancelled the request.')
}
