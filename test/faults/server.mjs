// One real server process for the fault tests: the packages as `runbridge serve` composes them, with short times, a
// step at which the process ends itself as SIGKILL does, and its address on stdout.
import { createServer, resolveTool, serveHttp } from '@runbridge/server'
import { createStepFunctionsClients, stepFunctions } from '@runbridge/step-functions'
import { openStore } from './stores.mjs'
import { TIMES } from './times.mjs'

/**
 * @typedef {object} ServerArguments
 * @property {import('./stores.mjs').SharedStore} shared
 * @property {string} endpoint
 * @property {{ name: string, stateMachineArn: string, confirm?: string, idempotencyKey?: string[], humanInput?: 'elicitation', holdMs?: number }[]} tools
 * @property {Partial<typeof TIMES>} [times] instead of the short ones
 * @property {object} [limits]
 * @property {number} [readsPerSecond]
 * @property {{ step: string, nth: number }} [crash] the process dies when it comes to this step for the nth time
 */

/** @type {ServerArguments} */
const { shared, endpoint, tools, crash, limits, readsPerSecond, ...given } = JSON.parse(
  process.argv[2] ?? '{}',
)

let left = crash?.nth ?? 0
/** @param {string} step */
function onStep(step) {
  if (step !== crash?.step) return
  left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
}

const store = await openStore(shared)
const clients = createStepFunctionsClients({
  region: 'us-east-1',
  endpoint,
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
})
const { sweepMs, visibilityMs, ...times } = { ...TIMES, ...given.times }
const backend = stepFunctions({ clients, visibilityMs, readsPerSecond })
const server = createServer({
  store,
  requestStateKey: await store.secret('request-state'),
  tools: await Promise.all(
    tools.map(({ name, stateMachineArn, confirm, idempotencyKey, humanInput, holdMs }) =>
      resolveTool(
        {
          name,
          description: 'For the fault tests.',
          backend,
          workflow: { id: stateMachineArn },
          inputSchema: { type: 'object', properties: { order: { type: 'integer' } } },
          idempotencyKey,
          ...(humanInput && { humanInput }),
          ...(holdMs !== undefined && { holdMs }),
          ...(confirm && { confirm: { message: confirm } }),
        },
        { signal: AbortSignal.timeout(10_000) },
      ),
    ),
  ),
  limits: { sweepMs, ...limits },
  service: { ...times, onStep },
})
const { url } = await serveHttp({ server, host: '127.0.0.1', port: 0 })
process.stdout.write(`${url}\n`)
