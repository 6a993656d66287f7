import { expect, it } from 'vitest'
import { CI, context, createWorld } from './testing/world.js'

const endless = (ignoresCancel: boolean) => ({
  jobs: [{ name: 'sleep', ignoresCancel, steps: [{ name: 'Sleep', ms: Number.POSITIVE_INFINITY }] }],
})

it('is sent, and sent again by force after the time that is configured', async () => {
  const { backend, started, seen, clock, emulator } = await createWorld({ script: endless(true) })
  const run = await started()
  clock.pass(1_000)
  expect(await backend.cancel(CI, run, 'enough', context)).toEqual({ kind: 'sent', escalateAfterMs: 300_000 })
  const soon = { ...CI, forceCancelAfterMs: 1_000 }
  expect(await backend.cancel(soon, run, 'enough', context)).toEqual({ kind: 'sent', escalateAfterMs: 1_000 })
  const never = { ...CI, forceCancelAfterMs: false } as const
  expect(await backend.cancel(never, run, 'enough', context)).toEqual({ kind: 'sent' })
  clock.pass(60_000)
  expect(await seen(run)).toMatchObject({ state: 'running' })
  expect(await backend.cancel(CI, run, 'enough', { ...context, escalation: 1 })).toEqual({ kind: 'sent' })
  expect(emulator.calls().byOperation).toMatchObject({
    'actions/cancel-workflow-run': 3,
    'actions/force-cancel-workflow-run': 1,
  })
  expect(await seen(run)).toMatchObject({ state: 'cancelled' })
})

const CONFLICT = { kind: 'error', status: 409, message: 'Cannot cancel' } as const

it('is too late for a run that ended between the look and the cancel', async () => {
  const ending = { jobs: [{ name: 'work', steps: [{ name: 'Work', ms: 2_000 }] }] }
  const { backend, started, emulator, clock } = await createWorld({
    script: ending,
    onExchange: ({ operation }) => operation === 'actions/get-workflow-run' && clock.pass(10_000),
  })
  const run = await started()
  expect(await backend.cancel(CI, run, 'enough', context)).toEqual({ kind: 'too_late' })
  expect(emulator.calls().byOperation['actions/cancel-workflow-run']).toBe(1)
})

it('is to be sent again where GitHub can not take it yet', async () => {
  const { backend, started, emulator } = await createWorld({ script: endless(false) })
  const run = await started()
  emulator.faults.next('actions/cancel-workflow-run', CONFLICT)
  expect(await backend.cancel(CI, run, 'enough', context)).toMatchObject({
    kind: 'failed',
    error: { code: 'conflict' },
  })
  expect(await backend.cancel(CI, run, 'enough', context)).toMatchObject({ kind: 'sent' })
})

it('and starts are not sent while GitHub limits the credential, whichever request it limited', async () => {
  const { backend, started, look, emulator, clock } = await createWorld({ script: endless(false) })
  const run = await started()
  emulator.faults.next('actions/get-workflow-run-attempt', { kind: 'secondaryLimit', retryAfter: 90 })
  expect(await look(run)).toMatchObject({ kind: 'unreadable', retryAfterMs: 90_000 })
  emulator.resetCalls()
  expect(await backend.cancel(CI, run, 'enough', context)).toMatchObject({
    kind: 'failed',
    error: { code: 'throttled' },
  })
  expect(await backend.start(CI, 'rb-2', {}, context)).toMatchObject({
    kind: 'refused',
    error: { code: 'throttled' },
  })
  expect(emulator.calls().total).toBe(0)
  clock.pass(90_000)
  expect(await backend.cancel(CI, run, 'enough', context)).toMatchObject({ kind: 'sent' })
})
