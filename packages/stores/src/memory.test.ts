import { sessionSuite, storeSuite } from '@runbridge/core/testing'
import fc from 'fast-check'
import * as vitest from 'vitest'
import { memory } from './memory.js'

storeSuite(vitest, {
  name: 'memory',
  capabilities: { durable: false, multiProcess: false },
  open: async () => {
    const store = memory()
    return { store, dispose: () => store.close() }
  },
  forAll: (check) =>
    fc.assert(fc.asyncProperty(fc.array(fc.nat(0xffffffff), { maxLength: 80, size: 'max' }), check), {
      numRuns: 300,
    }),
})

sessionSuite(vitest, {
  name: 'memory',
  open: async () => {
    const store = memory()
    const close = () => store.close()
    return { sessions: store.sessions, close, dispose: close }
  },
})
