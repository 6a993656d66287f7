import type { Gate, RunRef } from '@runbridge/core'
import type { JobScript, RepositorySource } from '@runbridge/emulators/github'
import { describe, expect, it } from 'vitest'
import { CI, context, createWorld } from './testing/world.js'

const TOKENS = {
  'secret-of-the-server': { login: 'robot' },
  'secret-of-the-reviewer': { login: 'octocat' },
}
const environments: NonNullable<RepositorySource['environments']> = {
  production: { reviewers: ['octocat', 'hubot'] },
  vault: { reviewers: ['somebody-else'] },
}
const job = (name: string, more: Partial<JobScript> = {}): JobScript => ({
  name,
  steps: [{ name: 'Deploy', ms: 2_000 }],
  ...more,
})

async function waiting(jobs: JobScript[], more = {}) {
  const world = await createWorld({ script: { jobs }, repository: { environments }, tokens: TOKENS, ...more })
  const run = await world.started()
  world.clock.pass(1_000)
  return { ...world, run }
}
const approve = { action: 'accept', content: { decision: 'approve', comment: 'go' } } as const
const gatesOf = async (
  seen: (run: RunRef, more: object) => Promise<{ gates: readonly Gate[] }>,
  run: RunRef,
) => (await seen(run, { gates: true })).gates

describe('an environment that waits', () => {
  it('is a question only where the reviewer may answer it', async () => {
    const { seen, run } = await waiting([
      job('deploy', { environment: 'production' }),
      job('unlock', { environment: 'vault' }),
    ])
    const snapshot = await seen(run, { gates: true })
    expect(snapshot).toMatchObject({ state: 'waiting', nativeState: 'waiting' })
    expect(snapshot.gates.map(({ step }) => step)).toEqual(['production'])
    expect(snapshot.gates[0]?.schema).toMatchObject({
      properties: { decision: { enum: ['approve', 'reject'] } },
    })
  })

  it('is told with who must answer where nobody can be asked', async () => {
    const { seen, run } = await waiting([job('unlock', { environment: 'vault' })])
    const snapshot = await seen(run, { gates: true })
    expect(snapshot).toMatchObject({ state: 'running', nativeState: 'waiting', gates: [] })
    expect(snapshot.progress?.message).toContain('environment vault waits for approval by somebody-else')
  })

  it('is off without a token of a reviewer', async () => {
    const { seen, run, backend } = await waiting([job('deploy', { environment: 'production' })], {
      reviewer: false,
    })
    expect((await backend.describe(CI, context)).capabilities.gates).toBe(false)
    expect(await seen(run, { gates: true })).toMatchObject({ state: 'running', gates: [] })
    const gate = { id: 'environment-1-0', step: 'production', prompt: '?', schema: {} }
    expect(await backend.answer(CI, run, gate, approve, context)).toMatchObject({
      kind: 'failed',
      error: { code: 'misconfigured' },
    })
  })

  it('costs no quota while it waits', async () => {
    const { follower, run, emulator } = await waiting([job('deploy', { environment: 'production' })])
    const look = follower(run, { gates: true })
    const first = await look()
    emulator.resetCalls()
    expect(await look()).toEqual(first)
    expect(emulator.calls()).toMatchObject({ total: 4, costed: 0 })
  })

  it('asked for beside jobs that run, and twice in turn, is two questions', async () => {
    const { seen, run, clock, backend } = await waiting([
      job('busy', { steps: [{ name: 'Work', ms: 3_600_000 }] }),
      job('first', { environment: 'production' }),
      job('second', { environment: 'production', needs: ['first'] }),
    ])
    const [first] = await gatesOf(seen, run)
    expect(await backend.answer(CI, run, first!, approve, context)).toEqual({ kind: 'delivered' })
    expect(await gatesOf(seen, run)).toEqual([])
    clock.pass(10_000)
    const [second] = await gatesOf(seen, run)
    expect(second?.id).not.toBe(first?.id)
    const late = { ...approve, content: { decision: 'reject' } } as const
    expect(await backend.answer(CI, run, first!, late, context)).toEqual({ kind: 'too_late' })
    expect(await gatesOf(seen, run)).toEqual([second])
  })

  it('that somebody else rejected is too late, although an earlier one was approved in the same words', async () => {
    const { seen, run, clock, backend, clients } = await waiting([
      job('first', { environment: 'production' }),
      job('second', { environment: 'production', needs: ['first'] }),
    ])
    const [first] = await gatesOf(seen, run)
    expect(await backend.answer(CI, run, first!, approve, context)).toEqual({ kind: 'delivered' })
    clock.pass(10_000)
    const [second] = await gatesOf(seen, run)
    const environment = Number(second?.id.split('-')[1])
    await clients.reviewer?.request('POST /repos/{owner}/{repo}/actions/runs/{run_id}/pending_deployments', {
      ...{ owner: 'octo', repo: 'shop', run_id: Number(run.id) },
      ...{ environment_ids: [environment], state: 'rejected', comment: 'no' },
    })
    expect(await backend.answer(CI, run, second!, approve, context)).toEqual({ kind: 'too_late' })
    const same = { action: 'accept', content: { decision: 'reject', comment: 'no' } } as const
    expect(await backend.answer(CI, run, second!, same, context)).toEqual({ kind: 'delivered' })
  })

  it('takes a rejection, with a comment or without', async () => {
    for (const response of [
      { action: 'accept', content: { decision: 'reject', comment: 'not today' } },
      { action: 'decline' },
    ] as const) {
      const { seen, run, backend, clock } = await waiting([job('deploy', { environment: 'production' })])
      const [gate] = await gatesOf(seen, run)
      expect(await backend.answer(CI, run, gate!, response, context)).toEqual({ kind: 'delivered' })
      clock.pass(5_000)
      expect(await seen(run)).toMatchObject({ state: 'failed', error: { step: 'deploy' } })
    }
  })

  it('is not answered for another attempt', async () => {
    const { seen, run, backend, clock, emulator } = await waiting([
      job('deploy', { environment: 'production' }),
    ])
    const [gate] = await gatesOf(seen, run)
    await backend.cancel(CI, run, 'enough', context)
    clock.pass(1_000)
    emulator.rerun(Number(run.id))
    clock.pass(1_000)
    expect(await backend.answer(CI, run, gate!, approve, context)).toEqual({ kind: 'too_late' })
  })

  it('names what is missing where the reviewer may not review', async () => {
    const { seen, run, backend, emulator } = await waiting([job('deploy', { environment: 'production' })])
    const [gate] = await gatesOf(seen, run)
    emulator.faults.next('actions/review-pending-deployments-for-run', { kind: 'denied' })
    const result = await backend.answer(CI, run, gate!, approve, context)
    expect(result).toMatchObject({ kind: 'failed', error: { code: 'denied' } })
    if (result.kind === 'failed') expect(result.error.message).toContain('Deployments: write')
  })
})

describe('a run from a fork', () => {
  const script = ({ approved }: { approved: boolean }) =>
    approved ? { jobs: [job('test')] } : ({ conclusion: 'action_required' } as const)

  it('waits for approval, runs after it, and knows no rejection', async () => {
    const { emulator, seen, backend, clock } = await createWorld({ script })
    const id = String(emulator.start('octo/shop', 'ci.yml', { event: 'pull_request' }))
    const run = { id, attempt: 1 }
    expect(await seen(run)).toMatchObject({ state: 'running', nativeState: 'action_required' })
    const [gate] = await gatesOf(seen, run)
    expect(gate?.id).toBe('fork')
    const declined = await backend.answer(CI, run, gate!, { action: 'decline' }, context)
    expect(declined).toMatchObject({ kind: 'failed', error: { code: 'unsupported' } })
    const yes = { action: 'accept', content: {} } as const
    expect(await backend.answer(CI, run, gate!, yes, context)).toEqual({ kind: 'delivered' })
    expect(await backend.answer(CI, run, gate!, yes, context)).toEqual({ kind: 'too_late' })
    clock.pass(10_000)
    expect(await seen(run)).toMatchObject({ state: 'succeeded' })
  })
})
