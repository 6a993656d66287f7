// One state machine as an MCP tool, from your own process: node examples/library.mjs
import { createServer, resolveTool, serveHttp } from '@runbridge/server'
import { createStepFunctionsClients, parseStateMachineArn, stepFunctions } from '@runbridge/step-functions'
import { sqlite } from '@runbridge/stores/sqlite'

const arn = process.env.STATE_MACHINE_ARN ?? 'arn:aws:states:eu-west-1:123456789012:stateMachine:PlaceOrder'

const clients = createStepFunctionsClients({ region: parseStateMachineArn(arn).region })
const store = sqlite({ path: process.env.TASKS_FILE ?? 'tasks.sqlite' })
const tool = await resolveTool(
  {
    name: 'place_order',
    description: 'Takes an order from stock check to parcel. Takes minutes.',
    backend: stepFunctions({ clients }),
    workflow: { id: arn },
    inputSchema: {
      type: 'object',
      properties: { orderId: { type: 'string' } },
      required: ['orderId'],
    },
  },
  { signal: AbortSignal.timeout(10_000) },
)
const server = createServer({
  tools: [tool],
  store,
  requestStateKey: await store.secret('request-state'),
})
const http = await serveHttp({ server, port: Number(process.env.PORT ?? 8080) })
process.stdout.write(`${tool.name} at ${http.url}\n`)

process.once('SIGTERM', async () => {
  await http.close()
  await store.close()
  clients.close()
})
