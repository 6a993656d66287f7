import type { RunScript } from '@runbridge/emulators/github'
import { describe, expect, it } from 'vitest'
import { CONCLUSION_STATES, CONCLUSIONS, nativeState, STATE_TABLE, STATUS_STATES, stateOf } from './states.js'
import { createWorld } from './testing/world.js'

const quiet = () => undefined

describe('every status of a run that goes on', () => {
  it.each([
    ['requested', 'queued'],
    ['queued', 'queued'],
    ['pending', 'queued'],
    ['waiting', 'running'],
    ['in_progress', 'running'],
  ] as const)('%s is %s', (status, state) => {
    expect(STATUS_STATES[status].state).toBe(state)
    expect(stateOf({ status, conclusion: undefined }, quiet)).toBe(state)
    expect(nativeState({ status, conclusion: undefined })).toBe(status)
  })
})

/** What a whole run with this conclusion comes to. */
const ENDS = [
  ['success', 'succeeded'],
  ['neutral', 'succeeded'],
  ['skipped', 'succeeded'],
  ['failure', 'failed'],
  ['startup_failure', 'failed'],
  ['timed_out', 'timed_out'],
  ['cancelled', 'cancelled'],
  ['stale', 'lost'],
  ['action_required', 'running'],
] as const

describe('every conclusion of a completed run', () => {
  it('is in the list of this test', () => {
    expect(ENDS.map(([conclusion]) => conclusion).sort()).toEqual([...CONCLUSIONS].sort())
  })

  it.each(ENDS)('%s is %s', async (conclusion, state) => {
    expect(CONCLUSION_STATES[conclusion].state).toBe(state)
    const jobs = [{ name: 'build', steps: [{ name: 'Build', ms: 1000 }] }]
    const script: RunScript = { conclusion, ...(conclusion !== 'startup_failure' && { jobs }) }
    const { started, seen, clock } = await createWorld({ script })
    const run = await started()
    clock.pass(5000)
    const snapshot = await seen(run)
    expect(snapshot).toMatchObject({ state, nativeState: conclusion, gates: [] })
    expect(snapshot.endedAt === undefined).toBe(state === 'running')
    if (state === 'failed' || state === 'timed_out' || state === 'lost') {
      expect(snapshot.error?.code).toBe(conclusion)
    } else {
      expect(snapshot.error).toBeUndefined()
    }
  })
})

it.each([
  { status: 'dreaming', conclusion: undefined },
  { status: 'completed', conclusion: 'exploded' },
  { status: 'toString', conclusion: undefined },
])('what nobody has seen before is running, and said so: %j', (native) => {
  const warnings: string[] = []
  expect(stateOf(native, (message) => warnings.push(message))).toBe('running')
  expect(warnings.join()).toContain(nativeState(native))
})

it('a run that is completed without a conclusion yet goes on, without a word', () => {
  const warnings: string[] = []
  expect(stateOf({ status: 'completed', conclusion: undefined }, (message) => warnings.push(message))).toBe(
    'running',
  )
  expect(warnings).toEqual([])
})

it('an unknown status of a real run is shown in its own word', async () => {
  const { started, seen, warnings } = await createWorld({ script: { status: 'dreaming' } })
  expect(await seen(await started())).toMatchObject({ state: 'running', nativeState: 'dreaming' })
  expect(warnings.join()).toContain('dreaming')
})

it('the table for the documentation names all of them', () => {
  const native = STATE_TABLE.map((row) => row.native).join()
  for (const word of [...Object.keys(STATUS_STATES), ...CONCLUSIONS]) expect(native).toContain(word)
})
