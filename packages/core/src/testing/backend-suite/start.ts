import assert from 'node:assert/strict'
import type { Workflow } from '../../backend.js'
import { type BackendTests, DENIALS, type Trial } from './trial.js'

export function startTests<W extends Workflow>({ it, options: { capabilities } }: BackendTests<W>): void {
  const start = (
    t: Trial<W>,
    runKey: string,
    input = t.engine.inputs[0],
    workflow = t.engine.workflows.echoes,
  ) => t.backend.start(workflow, runKey, input, t.context)

  it('begins one run', async (t) => {
    await t.started(t.engine.workflows.echoes)
    assert.equal(await t.engine.executions(), 1)
  })
  it('is refused for a workflow that the engine does not have', async (t) => {
    t.tells(await start(t, t.key(), t.engine.inputs[0], t.engine.workflows.missing), 'refused')
    assert.equal(await t.engine.executions(), 0)
  })
  for (const fault of DENIALS) {
    it(`is refused, and nothing runs, when the only answer is: ${fault}`, async (t) => {
      await t.engine.fault('start', fault)
      t.tells(await start(t, t.key()), 'refused')
      assert.equal(await t.engine.executions(), 0)
    })
  }
  it('is unknown when the answer is lost, and was sent once', async (t) => {
    await t.engine.fault('start', 'lost_after')
    t.tells(await start(t, t.key()), 'unknown')
    assert.equal(await t.engine.executions(), 1)
  })
  for (const fault of ['lost_before', 'down'] as const) {
    it(`is unknown when the engine gave no word: ${fault}`, async (t) => {
      await t.engine.fault('start', fault)
      t.tells(await start(t, t.key()), 'unknown')
      assert.equal(await t.engine.executions(), 0)
    })
  }
  it('does not claim a run when the caller has left', async (t) => {
    const signal = AbortSignal.abort()
    const result = await t.backend.start(t.engine.workflows.echoes, t.key(), t.engine.inputs[0], {
      ...t.context,
      signal,
    })
    assert.notEqual(result.kind, 'started')
    if (result.kind === 'refused') assert.equal(await t.engine.executions(), 0)
  })
  if (capabilities.start === 'idempotent') {
    it('repeated with the same key and input is the same run, while it goes on and after its end', async (t) => {
      const runKey = t.key()
      const run = await t.started(t.engine.workflows.echoes, runKey)
      assert.deepEqual(await start(t, runKey), { kind: 'started', run })
      await t.end(t.engine.workflows.echoes, run)
      assert.deepEqual(await start(t, runKey), { kind: 'started', run })
      assert.equal(await t.engine.executions(), 1)
    })
    it('repeated with the same key after a lost answer is that run', async (t) => {
      const runKey = t.key()
      await t.engine.fault('start', 'lost_after')
      await start(t, runKey)
      await t.engine.restore()
      const again = await start(t, runKey)
      assert.equal(again.kind, 'started')
      assert.equal(await t.engine.executions(), 1)
    })
    it('with another input under the same key is refused', async (t) => {
      const runKey = t.key()
      await start(t, runKey)
      t.tells(await start(t, runKey, t.engine.inputs[1]), 'refused')
      assert.equal(await t.engine.executions(), 1)
    })
  }
}
