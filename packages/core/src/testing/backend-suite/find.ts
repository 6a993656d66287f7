import assert from 'node:assert/strict'
import type { Workflow } from '../../backend.js'
import { type BackendTests, OUTAGES } from './trial.js'

export function findTests<W extends Workflow>({ it }: BackendTests<W>): void {
  it('finds the run whose answer was lost', async (t) => {
    const runKey = t.key()
    await t.engine.fault('start', 'lost_after')
    await t.backend.start(t.engine.workflows.echoes, runKey, t.engine.inputs[0], t.context)
    await t.engine.restore()
    const run = await t.found(t.engine.workflows.echoes, runKey)
    assert.equal((await t.end(t.engine.workflows.echoes, run)).state, 'succeeded')
  })
  it('gives the same reference as the start, from another instance too', async (t) => {
    const runKey = t.key()
    const run = await t.started(t.engine.workflows.echoes, runKey)
    assert.deepEqual(await t.found(t.engine.workflows.echoes, runKey), run)
    assert.deepEqual(await t.found(t.engine.workflows.echoes, runKey, t.engine.instance()), run)
  })
  it('is absent for a key under which nothing was started', async (t) => {
    assert.deepEqual(await t.backend.find(t.engine.workflows.echoes, t.key(), t.context), { kind: 'absent' })
  })
  it('is unreadable, not absent, where the engine does not show the workflow', async (t) => {
    t.tells(await t.backend.find(t.engine.workflows.missing, t.key(), t.context), 'unreadable')
  })
  for (const fault of OUTAGES) {
    it(`is unreadable, not absent, when the engine is: ${fault}`, async (t) => {
      await t.engine.fault('read', fault)
      t.tells(await t.backend.find(t.engine.workflows.echoes, t.key(), t.context), 'unreadable')
    })
  }
  it('is unreadable when the caller has left', async (t) => {
    const signal = AbortSignal.abort()
    t.tells(await t.backend.find(t.engine.workflows.echoes, t.key(), { ...t.context, signal }), 'unreadable')
  })
}
