import { backendSuite, type SuiteRunner } from '@runbridge/core/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from 'vitest'
import { createGoogleWorkflowsClients } from './clients.js'
import { CAPABILITIES } from './describe.js'
import { APPROVAL, engineOn, startEngine } from './testing/emulated-engine.js'

const emulator = await startEngine()
const grpc = await createGoogleWorkflowsClients({ endpoint: emulator.url })
const rest = await createGoogleWorkflowsClients({ endpoint: emulator.url, transport: 'rest' })
afterAll(async () => {
  await Promise.all([grpc.close(), rest.close()])
  await emulator.close()
})

const runner: SuiteRunner = { describe, it, beforeAll, afterAll, beforeEach, afterEach }
const engine = { forgets: true, retries: false, attaches: true }

backendSuite(runner, {
  name: 'Google Workflows over gRPC, with a detailed history',
  capabilities: CAPABILITIES,
  engine,
  open: () => engineOn(emulator, grpc, { historyLevel: 'detailed', gates: { approve: APPROVAL } }),
})

backendSuite(runner, {
  name: 'Google Workflows over its REST fallback, with a detailed history',
  capabilities: CAPABILITIES,
  engine,
  open: () => engineOn(emulator, rest, { historyLevel: 'detailed', gates: { 'main.approve': APPROVAL } }),
})
