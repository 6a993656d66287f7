import assert from 'node:assert/strict'
import type { Workflow } from '../../backend.js'
import type { BackendTests, Trial } from './trial.js'

export function cancelTests<W extends Workflow>({ it }: BackendTests<W>): void {
  const endless = (t: Trial<W>) => {
    assert.ok(t.engine.workflows.endless, 'a harness with `cancel` has an endless workflow')
    return t.engine.workflows.endless
  }
  it('is sent, and the engine says when the run has stopped', async (t) => {
    const run = await t.started(endless(t))
    await t.follow(endless(t), run, (snapshot) => snapshot.state === 'running')
    const sent = await t.backend.cancel(endless(t), run, 'no longer needed', t.context)
    assert.equal(sent.kind, 'sent')
    assert.equal((await t.end(endless(t), run)).state, 'cancelled')
  })
  it('is too late for a run that has ended', async (t) => {
    const run = await t.started(t.engine.workflows.echoes)
    await t.end(t.engine.workflows.echoes, run)
    const late = await t.backend.cancel(t.engine.workflows.echoes, run, 'late', t.context)
    assert.deepEqual(late, { kind: 'too_late' })
    assert.equal((await t.end(t.engine.workflows.echoes, run)).state, 'succeeded')
  })
  for (const fault of ['denied', 'expired', 'down'] as const) {
    it(`fails, and the run goes on, when the engine is: ${fault}`, async (t) => {
      const run = await t.started(endless(t))
      await t.engine.fault('cancel', fault)
      t.tells(await t.backend.cancel(endless(t), run, 'in vain', t.context), 'failed')
      await t.engine.restore()
      await t.follow(endless(t), run, (snapshot) => snapshot.state === 'running')
    })
  }
  it('fails when the caller has left', async (t) => {
    const run = await t.started(endless(t))
    t.tells(
      await t.backend.cancel(endless(t), run, 'left', { ...t.context, signal: AbortSignal.abort() }),
      'failed',
    )
  })
}
