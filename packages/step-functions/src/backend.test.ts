import { backendSuite, type SuiteRunner } from '@runbridge/core/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from 'vitest'
import { EXPRESS_CAPABILITIES, STANDARD_CAPABILITIES } from './describe.js'
import { engineOn, startEngine } from './testing/emulated-engine.js'

const standard = await startEngine('STANDARD')
const express = await startEngine('EXPRESS')
afterAll(async () => {
  await standard.close()
  await express.close()
})

const runner: SuiteRunner = { describe, it, beforeAll, afterAll, beforeEach, afterEach }

backendSuite(runner, {
  name: 'Step Functions, Standard',
  capabilities: STANDARD_CAPABILITIES,
  engine: { forgets: true, retries: true, attaches: true },
  open: () => engineOn(standard),
})

backendSuite(runner, {
  name: 'Step Functions, Express',
  capabilities: EXPRESS_CAPABILITIES,
  engine: { forgets: false, retries: false },
  open: () => engineOn(express),
})
