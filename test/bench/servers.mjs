// One server process for the benchmarks: `node test/bench/servers.mjs echo|sdk|memory|sqlite [FILE]` prints its address.
//   echo    bare node:http: parses a JSON-RPC body and sends its params back
//   sdk     the SDK's handler with one tool and one method, and nothing of ours
//   memory  Runbridge on the store in memory, with an engine that answers at once
//   sqlite  the same on a SQLite file
import { createServer as createHttpServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler, McpServer, Server } from '@modelcontextprotocol/server'
import { createServer, resolveTool, serveHttp } from '@runbridge/server'
import { memory } from '@runbridge/stores/memory'
import { sqlite } from '@runbridge/stores/sqlite'
import * as z from 'zod'
import { instantEngine } from './instant-engine.mjs'

const [kind = '', file = ''] = process.argv.slice(2)

/** @param {import('node:http').RequestListener} listener */
function listen(listener) {
  const server = createHttpServer(listener)
  server.listen(0, '127.0.0.1', () => {
    const address = /** @type {import('node:net').AddressInfo} */ (server.address())
    process.stdout.write(`http://127.0.0.1:${address.port}/mcp\n`)
  })
}

function echo() {
  listen((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      const { id, params } = JSON.parse(body)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: params }))
    })
  })
}

function sdk() {
  const task = {
    taskId: 'any',
    status: 'working',
    statusMessage: 'The run goes on.',
    createdAt: '2026-07-28T00:00:00.000Z',
    lastUpdatedAt: '2026-07-28T00:00:00.000Z',
    ttlMs: null,
  }
  const handler = createMcpHandler(({ requestInfo }) => {
    if (requestInfo?.headers.get('mcp-method') === 'tasks/get') {
      const server = new Server({ name: 'bare', version: '0' }, { capabilities: { tools: {} } })
      server.setRequestHandler('tasks/get', { params: z.looseObject({}) }, async () => task)
      return server
    }
    const server = new McpServer({ name: 'bare', version: '0' })
    server.registerTool('echo', { inputSchema: z.object({ order: z.number() }) }, async (input) => ({
      content: [{ type: 'text', text: JSON.stringify(input) }],
    }))
    return server
  })
  listen(getRequestListener((request) => handler.fetch(request), { overrideGlobalObjects: false }))
}

/** @param {import('@runbridge/core').TaskStore} store */
async function runbridge(store) {
  const signal = AbortSignal.timeout(10_000)
  const inputSchema = { type: 'object', properties: { order: { type: 'integer' } }, required: ['order'] }
  const tool = (/** @type {string} */ name, /** @type {'run' | 'call'} */ execution) =>
    resolveTool(
      {
        name,
        description: 'For benchmarks.',
        backend: instantEngine(execution),
        workflow: { id: name },
        inputSchema,
      },
      { signal },
    )
  const server = createServer({
    store,
    tools: [await tool('order', 'run'), await tool('echo', 'call')],
    requestStateKey: new Uint8Array(32).fill(1),
    limits: { maxOpenTasks: 1000 },
  })
  const { url } = await serveHttp({ server })
  process.stdout.write(`${url}\n`)
}

if (kind === 'echo') echo()
else if (kind === 'sdk') sdk()
else await runbridge(kind === 'sqlite' ? sqlite({ path: file }) : memory())
