// A state machine on a low-level server of @modelcontextprotocol/server 2.x, beside its own tools, over HTTP:
// node examples/sdk-v2.mjs
import { createServer as createNodeServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { createServer, resolveTool } from '@runbridge/server'
import { addTools } from '@runbridge/server/sdk-v2'
import { createStepFunctionsClients, parseStateMachineArn, stepFunctions } from '@runbridge/step-functions'
import { sqlite } from '@runbridge/stores/sqlite'

const arn = process.env.STATE_MACHINE_ARN ?? 'arn:aws:states:eu-west-1:123456789012:stateMachine:PlaceOrder'

const clients = createStepFunctionsClients({ region: parseStateMachineArn(arn).region })
const store = sqlite({ path: process.env.TASKS_FILE ?? 'tasks.sqlite' })
const workflow = { id: arn }
const description = 'Takes an order from stock check to parcel. Takes minutes.'
const options = { name: 'place_order', description, backend: stepFunctions({ clients }), workflow }
const tool = await resolveTool(options, { signal: AbortSignal.timeout(10_000) })
const runbridge = createServer({ tools: [tool], store, requestStateKey: await store.secret('request-state') })

const hours = { name: 'hours', description: 'Opening hours.', inputSchema: { type: 'object' } }
const handler = createMcpHandler(({ era }) => {
  const server = new Server({ name: 'shop', version: '1.0.0' }, { capabilities: {} })
  addTools(server, runbridge, {
    era,
    others: { list: () => [hours], call: async () => ({ content: [{ type: 'text', text: '9 to 17' }] }) },
  })
  return server
})
const http = createNodeServer(getRequestListener((request) => handler.fetch(request)))
http.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  process.stdout.write(`shop at http://127.0.0.1:${http.address()?.port}/mcp\n`)
})
