import { describe, expect, it } from 'vitest'
import { createGoogleWorkflowsClients } from './clients.js'
import { emulated } from './testing/emulated.js'
import { context, look } from './testing/scripted-clients.js'

for (const transport of ['grpc', 'rest'] as const) {
  describe(`on ${transport}`, () => {
    it('a run beyond the quota is queued and says why, until it may run', async () => {
      const world = await emulated(
        { maxConcurrent: 1, workflows: { slow: { steps: [{ step: 'sleep', ms: 86_400_000 }] } } },
        { transport },
      )
      const workflow = { id: world.emulator.workflowName('slow') }
      const first = await world.start(workflow)
      const second = await world.start(workflow)
      const queued = await world.until(workflow, second, (seen) => seen.state === 'queued')
      expect(queued.progress?.message).toContain('the concurrency quota of us-central1 is used up')
      await world.backend.cancel(workflow, first, '', context)
      await world.until(workflow, second, (seen) => seen.state === 'running')
    })

    it('a run that ends before it stops keeps its end', async () => {
      let finish: (value?: unknown) => void = () => undefined
      const work = new Promise((resolve) => {
        finish = resolve
      })
      const steps = [
        { step: 'work', call: () => work },
        { step: 'done', return: 'done' },
      ]
      const world = await emulated({ workflows: { race: { steps, stopsAfterMs: 10_000 } } }, { transport })
      const workflow = { id: world.emulator.workflowName('race') }
      const run = await world.start(workflow)
      expect(await world.backend.cancel(workflow, run, '', context)).toEqual({ kind: 'sent' })
      finish()
      const end = await world.until(workflow, run, (seen) => seen.endedAt !== undefined)
      expect(end).toMatchObject({ state: 'succeeded', output: 'done' })
      expect(await world.backend.cancel(workflow, run, '', context)).toEqual({ kind: 'too_late' })
    })

    it('a state that the protos do not know is running, with its raw word', async () => {
      const world = await emulated(
        { workflows: { slow: { steps: [{ step: 'a', ms: 9e6 }] } } },
        { transport },
      )
      const workflow = { id: world.emulator.workflowName('slow') }
      const run = await world.start(workflow)
      world.emulator.faults.always('GetExecution', { kind: 'report', fields: { state: 42 } })
      const result = await world.backend.get(workflow, run, look)
      expect(result).toMatchObject({ snapshot: { state: 'running', nativeState: '42' } })
      expect(world.warnings).toEqual([expect.stringContaining('not known here: 42')])
    })

    it('an execution that Google can not read is unreadable with its reason', async () => {
      const world = await emulated(
        { workflows: { slow: { steps: [{ step: 'a', ms: 9e6 }] } } },
        { transport },
      )
      const workflow = { id: world.emulator.workflowName('slow') }
      const run = await world.start(workflow)
      const fields = { state: 'UNAVAILABLE', stateError: { details: 'key revoked', type: 'KMS_ERROR' } }
      world.emulator.faults.always('GetExecution', { kind: 'report', fields })
      const result = await world.backend.get(workflow, run, look)
      expect(result).toMatchObject({
        kind: 'unreadable',
        error: { message: expect.stringContaining('"key revoked"') },
      })
    })

    it('a list that is not filtered ends at the start that is looked for', async () => {
      const world = await emulated(
        { workflows: { echo: { steps: [] } }, now: () => 1_000_000 },
        { transport },
      )
      for (let count = 0; count < 250; count += 1) world.emulator.execute('echo')
      const clients = await createGoogleWorkflowsClients({ endpoint: world.emulator.url, transport })
      const listed = async (since?: number) => {
        world.emulator.resetCalls()
        const found = await clients.reads.list(world.emulator.workflowName('echo'), '', context.signal, since)
        return [found.length, world.emulator.calls().byOperation.ListExecutions]
      }
      expect(await listed()).toEqual([250, 3])
      expect(await listed(2_000_000)).toEqual([100, 1])
      await clients.close()
    })

    it('a denial names the missing permission', async () => {
      const world = await emulated({ workflows: { echo: { steps: [] } } }, { transport })
      const workflow = { id: world.emulator.workflowName('echo') }
      world.emulator.faults.always('CreateExecution', { kind: 'denied' })
      const result = await world.backend.start(workflow, 'rb-1', {}, context)
      expect(result).toMatchObject({ kind: 'refused', error: { code: 'denied' } })
      expect(result).toMatchObject({
        error: { message: expect.stringContaining('workflows.executions.create') },
      })
    })

    it('a call that is not answered is given up with its signal', async () => {
      const world = await emulated({ workflows: { echo: { steps: [] } } }, { transport })
      const workflow = { id: world.emulator.workflowName('echo') }
      world.emulator.faults.always('CreateExecution', { kind: 'hang', afterExecuting: true })
      const signal = AbortSignal.timeout(50)
      const result = await world.backend.start(workflow, 'rb-1', {}, { signal, owner: 'ada' })
      expect(result).toMatchObject({ kind: 'unknown', error: { code: 'unknown_outcome' } })
      world.emulator.faults.clear()
      expect((await world.backend.find(workflow, 'rb-1', context)).kind).toBe('found')
      expect(world.emulator.calls().starts).toHaveLength(1)
    })
  })
}

describe('progress', () => {
  it('counts the iterations of a loop where the history shows them', async () => {
    let turns = 0
    const turn = () => {
      turns += 1
      return turns === 3 ? new Promise(() => undefined) : undefined
    }
    const steps = [{ step: 'each', for: 5, steps: [{ step: 'wait', call: turn }] }]
    const world = await emulated({ workflows: { loop: { steps } } })
    const workflow = { id: world.emulator.workflowName('loop'), historyLevel: 'basic' } as const
    const run = await world.start(workflow)
    const seen = await world.until(workflow, run, ({ progress }) => progress?.done === 2)
    expect(seen.progress).toEqual({ message: 'main.each, main.wait', done: 2, total: 5 })
  })

  it('goes without the history while that is throttled', async () => {
    const world = await emulated({ workflows: { slow: { steps: [{ step: 'a', ms: 9e6 }] } } })
    const workflow = { id: world.emulator.workflowName('slow'), historyLevel: 'basic' } as const
    const run = await world.start(workflow)
    world.emulator.faults.always('ListStepEntries', { kind: 'error', status: 'RESOURCE_EXHAUSTED' })
    const result = await world.backend.get(workflow, run, look)
    expect(result).toMatchObject({ kind: 'snapshot', snapshot: { progress: { message: 'main.a' } } })
    expect(world.warnings).toHaveLength(1)
  })
})
