import assert from 'node:assert/strict'
import type { Workflow } from '../../backend.js'
import type { Gate, RunRef } from '../../run.js'
import { type BackendTests, sameJson, type Trial } from './trial.js'

export function gateTests<W extends Workflow>({ it, options: { capabilities } }: BackendTests<W>): void {
  const waits = (t: Trial<W>) => {
    assert.ok(t.engine.workflows.waits, 'a harness with `gates` has a workflow that waits')
    return t.engine.workflows.waits
  }
  const answers = (t: Trial<W>) => {
    assert.ok(t.engine.answers, 'a harness with `gates` has answers')
    return t.engine.answers
  }
  const accept = (t: Trial<W>, which: 0 | 1) => ({ action: 'accept', content: answers(t)[which] }) as const
  async function waiting(t: Trial<W>): Promise<{ run: RunRef; gate: Gate }> {
    const run = await t.started(waits(t))
    const snapshot = await t.follow(waits(t), run, (seen) => seen.state === 'waiting', {
      gates: true,
    })
    assert.equal(snapshot.gates.length, 1)
    return { run, gate: snapshot.gates[0]! }
  }

  it('are shown as questions that a form can ask', async (t) => {
    const { gate } = await waiting(t)
    assert.ok(gate.id !== '' && gate.step !== '' && gate.prompt !== '')
    assert.equal(gate.schema.type, 'object')
  })
  it('are not looked for unless they are asked for', async (t) => {
    const { run } = await waiting(t)
    const result = await t.backend.get(waits(t), run, t.look({ gates: false }))
    assert.ok(result.kind === 'snapshot')
    assert.equal(result.snapshot.state, 'running')
    assert.deepEqual(result.snapshot.gates, [])
  })
  it('have the same id for every instance and every look', async (t) => {
    const { run, gate } = await waiting(t)
    const first = await t.backend.get(waits(t), run, t.look({ gates: true }))
    assert.ok(first.kind === 'snapshot')
    const again = t.look({ gates: true, ...(first.marks && { marks: first.marks }) })
    for (const [instance, how] of [
      [t.backend, again],
      [t.engine.instance(), t.look({ gates: true })],
      [t.engine.instance(), again],
      [t.backend, t.look({ gates: true, marks: { nonsense: [1, null, 'x'] } })],
    ] as const) {
      const result = await instance.get(waits(t), run, how)
      assert.ok(result.kind === 'snapshot')
      assert.deepEqual(result.snapshot.gates, [gate])
    }
  })
  it('take an answer, from any instance, and the run goes on with it', async (t) => {
    const { run, gate } = await waiting(t)
    const given = await t.engine.instance().answer(waits(t), run, gate, accept(t, 0), t.context)
    assert.deepEqual(given, { kind: 'delivered' })
    const snapshot = await t.end(waits(t), run)
    assert.equal(snapshot.state, 'succeeded')
    sameJson(snapshot.output, answers(t)[0])
  })
  it('take a refusal as an answer', async (t) => {
    const { run, gate } = await waiting(t)
    const given = await t.backend.answer(waits(t), run, gate, { action: 'decline' }, t.context)
    assert.deepEqual(given, { kind: 'delivered' })
    assert.notEqual((await t.end(waits(t), run)).state, 'waiting')
  })
  it('tell our own answer, given twice, from another that came too late', async (t) => {
    const { run, gate } = await waiting(t)
    await t.engine.fault('answer', 'lost_after')
    const lost = await t.backend.answer(waits(t), run, gate, accept(t, 0), t.context)
    assert.notEqual(lost.kind, 'too_late')
    await t.engine.restore()
    const again = await t.backend.answer(waits(t), run, gate, accept(t, 0), t.context)
    assert.deepEqual(again, { kind: 'delivered' })
    const other = await t.backend.answer(waits(t), run, gate, accept(t, 1), t.context)
    assert.deepEqual(other, { kind: 'too_late' })
    sameJson((await t.end(waits(t), run)).output, answers(t)[0])
  })
  it('are closed with the run', async (t) => {
    const { run, gate } = await waiting(t)
    if (capabilities.cancel) await t.backend.cancel(waits(t), run, 'over', t.context)
    else await t.backend.answer(waits(t), run, gate, { action: 'decline' }, t.context)
    await t.end(waits(t), run)
    const late = await t.backend.answer(waits(t), run, gate, accept(t, 0), t.context)
    assert.deepEqual(late, { kind: 'too_late' })
  })
  for (const fault of ['denied', 'expired', 'lost_before', 'down'] as const) {
    it(`stay open when an answer meets: ${fault}`, async (t) => {
      const { run, gate } = await waiting(t)
      await t.engine.fault('answer', fault)
      t.tells(await t.backend.answer(waits(t), run, gate, accept(t, 0), t.context), 'failed')
      await t.engine.restore()
      const later = await t.backend.answer(waits(t), run, gate, accept(t, 0), t.context)
      assert.deepEqual(later, { kind: 'delivered' })
    })
  }
  it('fail an answer whose caller has left', async (t) => {
    const { run, gate } = await waiting(t)
    t.tells(
      await t.backend.answer(waits(t), run, gate, accept(t, 0), {
        ...t.context,
        signal: AbortSignal.abort(),
      }),
      'failed',
    )
  })
}
