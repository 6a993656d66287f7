import assert from 'node:assert/strict'
import type { AttachResult, Workflow } from '../../backend.js'
import { type BackendTests, OUTAGES, type Trial } from './trial.js'

export function attachTests<W extends Workflow>({ it }: BackendTests<W>): void {
  const attach = async (t: Trial<W>, workflow: W, reference: string): Promise<AttachResult> => {
    assert.ok(t.backend.attach, '`attach` is there where it is declared')
    return t.backend.attach(workflow, reference, t.context)
  }

  it('gives the reference that the start gave, for the run’s own id', async (t) => {
    const run = await t.started(t.engine.workflows.echoes)
    await t.end(t.engine.workflows.echoes, run)
    assert.deepEqual(await attach(t, t.engine.workflows.echoes, run.id), { kind: 'attached', run })
  })
  it('says what it takes', async (t) => {
    assert.ok(t.backend.references, '`references` is there where `attach` is')
  })
  it('refuses a run of another workflow, and what names none', async (t) => {
    const run = await t.started(t.engine.workflows.echoes)
    await t.end(t.engine.workflows.echoes, run)
    t.tells(await attach(t, t.engine.workflows.fails, run.id), 'refused')
    for (const reference of ['', 'nothing', `${run.id}0`]) {
      t.tells(await attach(t, t.engine.workflows.echoes, reference), 'refused')
    }
  })
  for (const fault of OUTAGES) {
    it(`is refused, with the reason, when the engine is: ${fault}`, async (t) => {
      const run = await t.started(t.engine.workflows.echoes)
      await t.end(t.engine.workflows.echoes, run)
      await t.engine.fault('read', fault)
      t.tells(await attach(t, t.engine.workflows.echoes, run.id), 'refused')
    })
  }
}
