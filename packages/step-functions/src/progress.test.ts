import { expect, it } from 'vitest'
import { followHistory } from './follow-history.js'
import type { Event } from './history.js'
import { NO_MARKS } from './marks.js'
import { progressOf } from './progress.js'
import { history } from './testing/scripted-clients.js'

const message = (...events: Parameters<typeof history>) =>
  progressOf(followHistory(NO_MARKS, history(...events) as Event[]))

it('names the state that was entered last and not left, and since when', () => {
  expect(
    message(
      [1, 0, 'ExecutionStarted'],
      [2, 0, 'PassStateEntered', { name: 'Prepare' }],
      [3, 2, 'PassStateExited', { name: 'Prepare' }],
      [4, 3, 'WaitStateEntered', { name: 'Cool down' }],
    ),
  ).toEqual({ message: 'Cool down since 2026-01-02T03:04:09Z' })
})

it('names the states of parallel branches, and no container around them', () => {
  const parallel: Parameters<typeof history> = [
    [1, 0, 'ParallelStateEntered', { name: 'Both' }],
    [2, 1, 'ParallelStateStarted'],
    ...['A', 'B', 'C', 'D', 'E'].map((name, index): [number, number, string, object] => [
      3 + index,
      2,
      'TaskStateEntered',
      { name },
    ]),
  ]
  expect(message(...parallel)?.message).toBe('E, D, C and 2 more since 2026-01-02T03:04:12Z')
  expect(message(...parallel.slice(0, 2))?.message).toMatch(/^Both since/)
})

it('does not name what was aborted or has failed', () => {
  const aborted = message(
    [1, 0, 'ParallelStateEntered', { name: 'Both' }],
    [2, 1, 'ParallelStateStarted'],
    [3, 2, 'TaskStateEntered', { name: 'Fails' }],
    [4, 2, 'WaitStateEntered', { name: 'Waits' }],
    [5, 3, 'TaskScheduled'],
    [6, 5, 'TaskFailed'],
    [7, 4, 'WaitStateAborted'],
    [8, 6, 'TaskStateAborted'],
    [9, 6, 'ParallelStateFailed'],
    [10, 9, 'ParallelStateExited', { name: 'Both' }],
    [11, 10, 'PassStateEntered', { name: 'Clean up' }],
  )
  expect(aborted?.message).toMatch(/^Clean up since/)
})

it('counts the tries of the state', () => {
  const retried = message(
    [1, 0, 'TaskStateEntered', { name: 'Charge' }],
    [2, 1, 'TaskScheduled'],
    [3, 2, 'TaskFailed'],
    [4, 3, 'TaskScheduled'],
    [5, 4, 'TaskTimedOut'],
    [6, 5, 'TaskScheduled'],
  )
  expect(retried?.message).toBe('Charge (try 3) since 2026-01-02T03:04:06Z')
})

it('counts the iterations of a Map', () => {
  const mapped = message(
    [1, 0, 'MapStateEntered', { name: 'Orders' }],
    [2, 1, 'MapStateStarted', { length: 40 }],
    [3, 2, 'MapIterationStarted', { name: 'Orders', index: 0 }],
    [4, 3, 'PassStateEntered', { name: 'Pack' }],
    [5, 4, 'PassStateExited', { name: 'Pack' }],
    [6, 5, 'MapIterationSucceeded', { name: 'Orders', index: 0 }],
    [7, 2, 'MapIterationStarted', { name: 'Orders', index: 1 }],
    [8, 7, 'PassStateEntered', { name: 'Pack' }],
  )
  expect(mapped).toEqual({ message: 'Orders: Pack since 2026-01-02T03:04:13Z', done: 1, total: 40 })
})

it('does not count a distributed Map, whose items are not in the history', () => {
  const run = message(
    [1, 0, 'MapStateEntered', { name: 'Files' }],
    [2, 1, 'MapStateStarted', { length: 0 }],
    [3, 2, 'MapRunStarted', { mapRunArn: 'arn:aws:states:us-east-1:123456789012:mapRun:deploy/Files:1' }],
  )
  expect(run).toEqual({ message: 'Files since 2026-01-02T03:04:06Z' })
})

it('counts failed iterations with those that ended, and starts anew with another try', () => {
  const events: Parameters<typeof history> = [
    [1, 0, 'MapStateEntered', { name: 'Orders' }],
    [2, 1, 'MapStateStarted', { length: 3 }],
    [3, 2, 'MapIterationStarted', { name: 'Orders', index: 0 }],
    [4, 2, 'MapIterationStarted', { name: 'Orders', index: 1 }],
    [5, 3, 'MapIterationSucceeded', { name: 'Orders', index: 0 }],
    [6, 4, 'MapIterationFailed', { name: 'Orders', index: 1 }],
  ]
  expect(message(...events)).toEqual({
    message: 'Orders (1 failed) since 2026-01-02T03:04:06Z',
    done: 2,
    total: 3,
  })
  const again = message(...events, [7, 6, 'MapStateFailed'], [8, 7, 'MapStateStarted', { length: 3 }])
  expect(again).toEqual({ message: 'Orders (try 2) since 2026-01-02T03:04:06Z', done: 0, total: 3 })
})

it('says nothing where the events tell nothing', () => {
  expect(message([1, 0, 'ExecutionStarted'])).toBeUndefined()
  expect(message()).toBeUndefined()
})
