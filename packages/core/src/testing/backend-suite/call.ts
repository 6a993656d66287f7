import assert from 'node:assert/strict'
import type { Workflow } from '../../backend.js'
import { type BackendTests, DENIALS, sameJson, type Trial } from './trial.js'

export function callTests<W extends Workflow>({ it }: BackendTests<W>): void {
  const call = (t: Trial<W>, workflow: W, signal = t.context.signal) => {
    assert.ok(t.backend.call, 'a backend that executes calls has `call`')
    return t.backend.call(workflow, t.engine.inputs[0], { ...t.context, signal })
  }
  it('ends with the output', async (t) => {
    const result = await call(t, t.engine.workflows.echoes)
    assert.ok(result.kind === 'ended')
    assert.equal(result.snapshot.state, 'succeeded')
    sameJson(result.snapshot.output, t.engine.inputs[0])
  })
  it('ends with the failure', async (t) => {
    const result = await call(t, t.engine.workflows.fails)
    assert.ok(result.kind === 'ended')
    assert.equal(result.snapshot.state, 'failed')
    assert.equal(result.snapshot.error?.code, t.engine.failure.code)
  })
  it('is refused where the engine says that nothing runs', async (t) => {
    t.tells(await call(t, t.engine.workflows.missing), 'refused')
    for (const fault of DENIALS) {
      await t.engine.fault('call', fault)
      t.tells(await call(t, t.engine.workflows.echoes), 'refused')
      await t.engine.restore()
    }
    assert.equal(await t.engine.executions(), 0)
  })
  it('is unknown when the answer is lost, and was sent once', async (t) => {
    await t.engine.fault('call', 'lost_after')
    t.tells(await call(t, t.engine.workflows.echoes), 'unknown')
    assert.equal(await t.engine.executions(), 1)
  })
  it('is unknown when the request is lost or the engine is down', async (t) => {
    for (const fault of ['lost_before', 'down'] as const) {
      await t.engine.fault('call', fault)
      t.tells(await call(t, t.engine.workflows.echoes), 'unknown')
      await t.engine.restore()
    }
  })
  it('is never an end when the caller leaves', async (t) => {
    const result = await call(t, t.engine.workflows.echoes, AbortSignal.abort())
    assert.notEqual(result.kind, 'ended')
  })
}
