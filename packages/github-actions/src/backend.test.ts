import { backendSuite, type SuiteRunner } from '@runbridge/core/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from 'vitest'
import { openEngine } from './testing/emulated-engine.js'

const runner: SuiteRunner = { describe, it, beforeAll, afterAll, beforeEach, afterEach }

backendSuite(runner, {
  name: 'GitHub Actions',
  capabilities: { start: 'findable', cancel: true, gates: true, log: true, execution: 'run' },
  engine: { forgets: true, retries: true },
  open: openEngine,
})
