// A state machine on a server of @modelcontextprotocol/sdk 1.x, beside its own tools, over stdio: node examples/sdk-v1.mjs
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createServer, resolveTool } from '@runbridge/server'
import { runbridgeTasks } from '@runbridge/server/sdk-v1'
import { createStepFunctionsClients, parseStateMachineArn, stepFunctions } from '@runbridge/step-functions'
import { sqlite } from '@runbridge/stores/sqlite'

const arn = process.env.STATE_MACHINE_ARN ?? 'arn:aws:states:eu-west-1:123456789012:stateMachine:PlaceOrder'

const clients = createStepFunctionsClients({ region: parseStateMachineArn(arn).region })
const store = sqlite({ path: process.env.TASKS_FILE ?? 'tasks.sqlite' })
const workflow = { id: arn }
const description = 'Takes an order from stock check to parcel. Takes minutes.'
const options = { name: 'place_order', description, backend: stepFunctions({ clients }), workflow }
const tool = await resolveTool(options, { signal: AbortSignal.timeout(10_000) })
const runbridge = runbridgeTasks(
  createServer({ tools: [tool], store, requestStateKey: await store.secret('request-state') }),
)

const server = new McpServer(
  { name: 'shop', version: '1.0.0' },
  {
    taskStore: runbridge.taskStore,
    capabilities: { tasks: { cancel: {}, requests: { tools: { call: {} } } } },
  },
)
server.registerTool('hours', { description: 'Opening hours.' }, () => ({
  content: [{ type: 'text', text: '9 to 17' }],
}))
runbridge.addTo(server)
await server.connect(new StdioServerTransport())
