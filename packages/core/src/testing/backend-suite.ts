import type { Workflow } from '../backend.js'
import type { BackendSuiteOptions } from './backend-harness.js'
import { attachTests } from './backend-suite/attach.js'
import { callTests } from './backend-suite/call.js'
import { cancelTests } from './backend-suite/cancel.js'
import { describeTests } from './backend-suite/describe.js'
import { findTests } from './backend-suite/find.js'
import { gateTests } from './backend-suite/gates.js'
import { getTests } from './backend-suite/get.js'
import { startTests } from './backend-suite/start.js'
import { type BackendTests, newTrial } from './backend-suite/trial.js'
import type { SuiteRunner } from './runner.js'

/**
 * Proves that an adapter keeps the contract of the Backend port. Which tests there are follows from the
 * declared capabilities, and one test holds `describe` to them; none is skipped.
 */
export function backendSuite<W extends Workflow>(runner: SuiteRunner, options: BackendSuiteOptions<W>): void {
  const { capabilities } = options
  const group = (name: string, define: (tests: BackendTests<W>) => void) =>
    runner.describe(name, () => {
      define({
        options,
        it: (title, test) =>
          runner.it(
            title,
            async () => {
              const engine = await options.open()
              try {
                await test(newTrial(engine))
              } finally {
                await engine.close?.()
              }
            },
            options.timeoutMs,
          ),
      })
    })

  runner.describe(`Backend: ${options.name}`, () => {
    group('describe', describeTests)
    if (capabilities.execution === 'call') {
      group('call', callTests)
      return
    }
    group('start', startTests)
    if (capabilities.start !== 'blind') group('find', findTests)
    group('get', getTests)
    if (capabilities.cancel) group('cancel', cancelTests)
    if (options.engine.attaches) group('attach', attachTests)
    if (capabilities.gates) group('gates', gateTests)
  })
}
