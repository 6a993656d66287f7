import type { JobScript } from '@runbridge/emulators/github'
import { describe, expect, it } from 'vitest'
import { CI, context, createWorld } from './testing/world.js'

const step = (name: string, ms = 10_000) => ({ name, ms })
const job = (name: string, more: Partial<JobScript> = {}): JobScript => ({
  name,
  steps: [step('Check out'), step('Test'), step('Clean up')],
  ...more,
})

describe('progress', () => {
  it('is the step of the first job that runs, among the jobs that are done', async () => {
    const jobs = [
      job('lint', { steps: [step('Lint', 4_000)] }),
      job('test (20)'),
      job('test (22)'),
      job('build', { needs: ['lint'] }),
    ]
    const { started, seen, clock } = await createWorld({ script: { queuedMs: 2_000, jobs } })
    const run = await started()
    expect(await seen(run)).toMatchObject({ state: 'queued', progress: { message: 'waits for a runner' } })
    clock.pass(3_000)
    expect((await seen(run)).progress).toEqual({
      message: 'job lint: step 1 of 1, Lint; 2 more run',
      done: 0,
      total: 3,
    })
    clock.pass(10_000)
    expect((await seen(run)).progress).toEqual({
      message: 'job test (20): step 2 of 3, Test; 2 more run',
      done: 1,
      total: 4,
    })
    expect(await seen(run, { progress: false })).not.toHaveProperty('progress')
  })

  it('says what a queued run waits for', async () => {
    const { started, seen } = await createWorld({ script: { queuedMs: 9e9, queuedAs: 'pending' } })
    const snapshot = await seen(await started())
    expect(snapshot).toMatchObject({ state: 'queued', nativeState: 'pending' })
    expect(snapshot.progress?.message).toContain('concurrency group')
  })

  it('counts the jobs of more than one page', async () => {
    const jobs = Array.from({ length: 230 }, (_, each) =>
      job(`cell ${each}`, { steps: [step('Run', each < 120 ? 1_000 : 60_000)] }),
    )
    const { started, follower, clock, emulator } = await createWorld({ script: { jobs } })
    const look = follower(await started())
    clock.pass(2_000)
    const first = await look()
    expect(first).toMatchObject({ snapshot: { progress: { done: 120, total: 230 } } })
    emulator.resetCalls()
    expect(await look()).toMatchObject({ snapshot: { progress: { done: 120, total: 230 } } })
    expect(emulator.calls()).toMatchObject({ total: 4, costed: 0 })
  })
})

describe('quota', () => {
  it('is not spent on a look that finds nothing new', async () => {
    const { started, follower, emulator, clock } = await createWorld({ script: { jobs: [job('test')] } })
    const look = follower(await started())
    clock.pass(1_000)
    const first = await look()
    emulator.resetCalls()
    for (let looks = 0; looks < 5; looks += 1) expect(await look()).toEqual(first)
    expect(emulator.calls()).toMatchObject({ total: 10, notModified: 10, costed: 0 })
    clock.pass(10_000)
    expect(await look()).toMatchObject({ snapshot: { progress: { message: 'job test: step 2 of 3, Test' } } })
    expect(emulator.calls().costedByOperation['actions/list-jobs-for-workflow-run-attempt']).toBe(1)
  })

  it('is asked for with one request where progress is not wanted', async () => {
    const { started, follower, emulator, clock } = await createWorld({ script: { jobs: [job('test')] } })
    const look = follower(await started(), { progress: false })
    clock.pass(1_000)
    await look()
    emulator.resetCalls()
    await look()
    expect(emulator.calls()).toMatchObject({ total: 1, costed: 0 })
  })

  it('that is used up, or limited otherwise, tells when to look again, and is left alone until then', async () => {
    const { started, look, emulator, clock } = await createWorld({ script: { jobs: [job('test')] } })
    const run = await started()
    for (const [fault, ms] of [
      [{ kind: 'secondaryLimit', retryAfter: 90 }, 90_000],
      [{ kind: 'secondaryLimit' }, 60_000],
      [{ kind: 'primaryLimit', resetIn: 1_800 }, 1_801_000],
    ] as const) {
      emulator.faults.next('actions/get-workflow-run-attempt', fault)
      expect(await look(run)).toMatchObject({
        kind: 'unreadable',
        retryAfterMs: ms,
        error: { code: 'throttled' },
      })
      emulator.resetCalls()
      clock.pass(ms - 1_000)
      expect(await look(run)).toMatchObject({
        kind: 'unreadable',
        retryAfterMs: 1_000,
        error: { code: 'throttled' },
      })
      expect(emulator.calls().total).toBe(0)
      clock.pass(1_000)
      expect((await look(run)).kind).toBe('snapshot')
    }
  })

  it('of 5,000 requests is really enforced by the stand-in, and never fails a task', async () => {
    const { started, look, clock } = await createWorld({
      script: { jobs: [job('test')] },
      requestsPerHour: 6,
    })
    const run = await started()
    expect((await look(run)).kind).toBe('snapshot')
    clock.pass(1_000)
    expect(await look(run)).toMatchObject({ kind: 'unreadable', error: { code: 'throttled' } })
    clock.pass(3_600_000)
    expect(await look(run)).toMatchObject({ kind: 'snapshot', snapshot: { state: 'succeeded' } })
  })
})

describe('a run that GitHub does not show', () => {
  it('is absent while its repository shows runs, and unreadable otherwise', async () => {
    const { started, look, emulator } = await createWorld({
      tokens: {
        'secret-of-the-server': { login: 'octocat' },
        'secret-of-the-reviewer': { login: 'octocat' },
      },
    })
    const run = await started()
    emulator.forget(Number(run.id))
    expect(await look(run)).toEqual({ kind: 'absent' })
    emulator.setToken('secret-of-the-server', { login: 'octocat', repositories: [] })
    expect(await look(run)).toMatchObject({ kind: 'unreadable', error: { code: 'workflow_not_found' } })
    emulator.setToken('secret-of-the-server', { login: 'octocat', permissions: { contents: 'read' } })
    expect(await look(run)).toMatchObject({ kind: 'unreadable', error: { code: 'denied' } })
    emulator.setToken('secret-of-the-server', undefined)
    expect(await look(run)).toMatchObject({ kind: 'unreadable', error: { code: 'unauthenticated' } })
  })

  it('names the permission that is missing', async () => {
    const { started, look, emulator } = await createWorld()
    const run = await started()
    emulator.faults.always('actions/get-workflow-run-attempt', { kind: 'denied' })
    const result = await look(run)
    expect(result).toMatchObject({ kind: 'unreadable', error: { code: 'denied' } })
    if (result.kind === 'unreadable') expect(result.error.message).toContain('Actions: read')
  })

  it('whose repository was renamed is followed there', async () => {
    const { started, seen, emulator, clock, warnings } = await createWorld({
      script: { jobs: [job('test')] },
    })
    const run = await started()
    emulator.rename('octo/shop', 'acme/store')
    clock.pass(60_000)
    expect(await seen(run)).toMatchObject({ state: 'succeeded' })
    expect(warnings.join()).toContain('new name')
  })
})

it('a re-run is another run, also while it goes on', async () => {
  const { started, seen, emulator, clock, backend } = await createWorld({
    script: ({ attempt }) => ({
      jobs: [
        job('test', { steps: [{ ...step('Test'), conclusion: attempt === 1 ? 'failure' : 'success' }] }),
      ],
    }),
  })
  const run = await started()
  clock.pass(20_000)
  const ours = await seen(run)
  expect(ours).toMatchObject({ state: 'failed', error: { step: 'test / Test' } })
  emulator.rerun(Number(run.id))
  expect(await seen(run)).toEqual(ours)
  expect(await backend.cancel(CI, run, 'enough', context)).toEqual({ kind: 'too_late' })
  expect(await seen({ ...run, attempt: 2 })).toMatchObject({ state: 'running' })
  clock.pass(20_000)
  expect(await seen({ ...run, attempt: 2 })).toMatchObject({ state: 'succeeded' })
  expect(await seen(run)).toEqual(ours)
})

it('goes on without jobs that can not be read, and says why once they are denied', async () => {
  const { started, look, emulator, clock, warnings } = await createWorld({ script: { jobs: [job('test')] } })
  const run = await started()
  clock.pass(1_000)
  emulator.faults.always('actions/list-jobs-for-workflow-run-attempt', { kind: 'denied' })
  expect(await look(run)).toMatchObject({ kind: 'snapshot', snapshot: { state: 'running' } })
  expect(warnings.join()).toContain('Actions: read')
  emulator.faults.always('actions/list-jobs-for-workflow-run-attempt', { kind: 'status', status: 502 })
  expect(await look(run)).toMatchObject({ kind: 'unreadable', error: { code: 'unavailable' } })
})

it('is unreadable, not an end, when the answer has another shape', async () => {
  const { started, backend, emulator } = await createWorld()
  const run = await started()
  emulator.faults.next('actions/get-workflow-run-attempt', { kind: 'error', status: 200, message: 'odd' })
  const result = await backend.get(CI, run, { ...context, gates: false, progress: true })
  expect(result.kind).toBe('unreadable')
})
