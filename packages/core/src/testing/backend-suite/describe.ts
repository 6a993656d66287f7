import assert from 'node:assert/strict'
import type { Workflow } from '../../backend.js'
import { RunbridgeError } from '../../errors.js'
import { type BackendTests, OUTAGES } from './trial.js'

export function describeTests<W extends Workflow>({ it, options: { capabilities } }: BackendTests<W>): void {
  it('tells the capabilities that are declared', async (t) => {
    const description = await t.backend.describe(t.engine.workflows.echoes, t.context)
    assert.deepEqual(description.capabilities, capabilities)
    if (capabilities.execution === 'call') assert.equal(typeof t.backend.call, 'function')
    if (capabilities.log) assert.equal(typeof t.backend.log, 'function')
  })
  it('throws workflow_not_found for what the engine does not have', async (t) => {
    const thrown = await t.backend.describe(t.engine.workflows.missing, t.context).catch((error) => error)
    assert.ok(thrown instanceof RunbridgeError)
    assert.equal(thrown.code, 'workflow_not_found')
  })
  it('throws a RunbridgeError while the engine can not be read', async (t) => {
    for (const fault of OUTAGES) {
      await t.engine.fault('read', fault)
      const thrown = await t.backend.describe(t.engine.workflows.echoes, t.context).catch((error) => error)
      assert.ok(thrown instanceof RunbridgeError, `${fault}: ${thrown}`)
      await t.engine.restore()
    }
  })
}
