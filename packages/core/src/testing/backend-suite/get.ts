import assert from 'node:assert/strict'
import type { Workflow } from '../../backend.js'
import { type BackendTests, OUTAGES, sameJson } from './trial.js'

export function getTests<W extends Workflow>({ it, options }: BackendTests<W>): void {
  it('shows a success with its output and times', async (t) => {
    const snapshot = await t.end(t.engine.workflows.echoes, await t.started(t.engine.workflows.echoes))
    assert.equal(snapshot.state, 'succeeded')
    sameJson(snapshot.output, t.engine.inputs[0])
    assert.ok(snapshot.startedAt !== undefined && snapshot.endedAt !== undefined)
    assert.ok(snapshot.startedAt <= snapshot.endedAt)
    assert.equal(snapshot.error, undefined)
    assert.deepEqual(snapshot.gates, [])
  })
  it('shows a failure with the name the engine gave it and the step', async (t) => {
    const snapshot = await t.end(t.engine.workflows.fails, await t.started(t.engine.workflows.fails))
    assert.equal(snapshot.state, 'failed')
    assert.equal(snapshot.error?.code, t.engine.failure.code)
    assert.equal(snapshot.error?.step, t.engine.failure.step)
    assert.equal(snapshot.output, undefined)
  })
  it('shows the same from another instance', async (t) => {
    const run = await t.started(t.engine.workflows.echoes)
    const seen = await t.end(t.engine.workflows.echoes, run)
    assert.deepEqual(await t.end(t.engine.workflows.echoes, run, t.engine.instance()), seen)
  })
  for (const fault of OUTAGES) {
    it(`is unreadable, never an end, when the engine is: ${fault}`, async (t) => {
      const run = await t.started(t.engine.workflows.echoes)
      await t.engine.fault('read', fault)
      t.tells(await t.backend.get(t.engine.workflows.echoes, run, t.look()), 'unreadable')
      await t.engine.restore()
      assert.equal((await t.end(t.engine.workflows.echoes, run)).state, 'succeeded')
    })
  }
  it('is unreadable when the caller has left', async (t) => {
    const run = await t.started(t.engine.workflows.echoes)
    const signal = AbortSignal.abort()
    t.tells(await t.backend.get(t.engine.workflows.echoes, run, t.look({ signal })), 'unreadable')
  })
  if (options.engine.forgets)
    it('is absent for a run that the engine forgot, and unreadable while its workflow can not be read', async (t) => {
      const run = await t.started(t.engine.workflows.echoes)
      await t.end(t.engine.workflows.echoes, run)
      assert.ok(t.engine.forget, 'an engine that forgets has `forget`')
      await t.engine.forget(run)
      assert.deepEqual(await t.backend.get(t.engine.workflows.echoes, run, t.look()), { kind: 'absent' })
      t.tells(await t.backend.get(t.engine.workflows.missing, run, t.look()), 'unreadable')
    })
  if (options.engine.retries)
    it('shows the end of our attempt after the engine began another', async (t) => {
      const run = await t.started(t.engine.workflows.fails)
      const ours = await t.end(t.engine.workflows.fails, run)
      assert.ok(t.engine.retry, 'an engine that retries has `retry`')
      await t.engine.retry(run)
      for (const instance of [t.backend, t.engine.instance()]) {
        const result = await instance.get(t.engine.workflows.fails, run, t.look({ gates: true }))
        assert.ok(result.kind === 'snapshot')
        assert.equal(result.snapshot.state, ours.state)
        assert.deepEqual(result.snapshot.error, ours.error)
        assert.equal(result.snapshot.endedAt, ours.endedAt)
      }
    })
}
