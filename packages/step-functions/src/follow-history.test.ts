import { describe, expect, it } from 'vitest'
import { followHistory } from './follow-history.js'
import { openGates } from './gates.js'
import type { Event } from './history.js'
import { NO_MARKS } from './marks.js'
import { currentStates } from './progress.js'
import { history, MACHINE } from './testing/scripted-clients.js'

type Short = Parameters<typeof history>
const waits = { resource: 'sendMessage.waitForTaskToken' }

function followed(...events: Short) {
  const marks = followHistory(NO_MARKS, history(...events) as Event[])
  return {
    gates: openGates(marks, { id: MACHINE }).map(({ id }) => id),
    states: currentStates(marks).map(({ name }) => name),
    lines: marks.lines.length,
  }
}

/** Two branches: one waits for a token, the other has a Parallel of its own with two more that wait. */
const NESTED: Short = [
  [1, 0, 'ExecutionStarted'],
  [2, 0, 'ParallelStateEntered', { name: 'Outer' }],
  [3, 2, 'ParallelStateStarted'],
  [4, 3, 'TaskStateEntered', { name: 'A' }],
  [5, 3, 'ParallelStateEntered', { name: 'Inner' }],
  [6, 3, 'TaskStateEntered', { name: 'Breaks' }],
  [7, 4, 'TaskScheduled', waits],
  [8, 5, 'ParallelStateStarted'],
  [9, 8, 'TaskStateEntered', { name: 'B' }],
  [10, 8, 'TaskStateEntered', { name: 'C' }],
  [11, 9, 'TaskScheduled', waits],
  [12, 10, 'TaskScheduled', waits],
  [13, 6, 'TaskScheduled', { resource: 'invoke' }],
]

describe('a sibling that fails', () => {
  it('leaves no open task behind, although no branch is told to be aborted', () => {
    expect(followed(...NESTED)).toMatchObject({
      gates: ['event-7', 'event-11', 'event-12'],
      states: ['A', 'Breaks', 'B', 'C'],
    })
    const failed: Short = [...NESTED, [14, 13, 'TaskFailed'], [15, 14, 'ParallelStateFailed']]
    expect(followed(...failed)).toMatchObject({ gates: [], states: ['Outer'] })
    const caught: Short = [
      ...failed,
      [16, 15, 'ParallelStateExited', { name: 'Outer' }],
      [17, 16, 'TaskStateEntered', { name: 'Ask' }],
      [18, 17, 'TaskScheduled', waits],
    ]
    expect(followed(...caught)).toEqual({ gates: ['event-18'], states: ['Ask'], lines: 1 })
  })

  it('is told in the order of AWS, where the aborted events name the same event as the failure does', () => {
    const aborted: Short = [
      ...NESTED,
      [14, 13, 'TaskFailed'],
      [15, 14, 'TaskStateAborted'],
      [16, 11, 'TaskStateAborted'],
      [17, 12, 'TaskStateAborted'],
      [18, 8, 'ParallelStateAborted'],
      [19, 7, 'TaskStateAborted'],
      [20, 14, 'ParallelStateFailed'],
    ]
    expect(followed(...aborted)).toMatchObject({ gates: [], states: ['Outer'] })
  })

  it('does not close what waits beside its container', () => {
    const inner: Short = [
      ...NESTED,
      [14, 11, 'TaskTimedOut'],
      [15, 14, 'TaskStateAborted'],
      [16, 14, 'ParallelStateFailed'],
      [17, 16, 'ParallelStateExited', { name: 'Inner' }],
      [18, 17, 'TaskStateEntered', { name: 'Recover' }],
      [19, 18, 'TaskScheduled', waits],
    ]
    expect(followed(...inner)).toMatchObject({ gates: ['event-7', 'event-19'] })
  })

  it('leaves nothing behind when its container starts again', () => {
    const again: Short = [
      ...NESTED,
      [14, 13, 'TaskFailed'],
      [15, 14, 'ParallelStateFailed'],
      [16, 15, 'ParallelStateStarted'],
      [17, 16, 'TaskStateEntered', { name: 'A' }],
      [18, 17, 'TaskScheduled', waits],
    ]
    expect(followed(...again)).toMatchObject({ gates: ['event-18'], states: ['A'] })
  })
})

describe('iterations', () => {
  const map: Short = [
    [1, 0, 'MapStateEntered', { name: 'Each' }],
    [2, 1, 'MapStateStarted', { length: 2 }],
    [3, 2, 'MapIterationStarted', { name: 'Each', index: 0 }],
    [4, 3, 'TaskStateEntered', { name: 'Ask' }],
    [5, 2, 'MapIterationStarted', { name: 'Each', index: 1 }],
    [6, 5, 'TaskStateEntered', { name: 'Ask' }],
    [7, 4, 'TaskScheduled', waits],
    [8, 6, 'TaskScheduled', waits],
  ]
  it('have gates of their own, which close with them', () => {
    expect(followed(...map).gates).toEqual(['event-7', 'event-8'])
    const one: Short = [
      ...map,
      [9, 7, 'TaskSucceeded'],
      [10, 9, 'TaskStateExited', { name: 'Ask' }],
      [11, 10, 'MapIterationSucceeded', { name: 'Each', index: 0 }],
    ]
    expect(followed(...one).gates).toEqual(['event-8'])
    expect(followed(...one, [12, 8, 'MapIterationAborted', { name: 'Each', index: 1 }]).gates).toEqual([])
    expect(followed(...one, [12, 11, 'MapStateFailed']).gates).toEqual([])
  })
})

it('a redrive shows what it comes back to, and not where the attempt before it ended', () => {
  const ended: Short = [
    ...NESTED,
    [14, 0, 'ExecutionTimedOut'],
    [15, 0, 'ExecutionRedriven', { redriveCount: 1 }],
  ]
  expect(followed(...ended)).toMatchObject({ gates: [], states: [] })
  expect(followed(...ended, [16, 11, 'TaskScheduled', waits])).toMatchObject({
    gates: ['event-16'],
    states: ['B'],
  })
})

it('where an endpoint names no event as the previous, the events are one line', () => {
  const events = history(
    [1, 0, 'ExecutionStarted'],
    [2, 0, 'TaskStateEntered', { name: 'Ask' }],
    [3, 0, 'TaskScheduled', { resource: 'arn:aws:states:::sqs:sendMessage.waitForTaskToken' }],
  ).map(({ previousEventId: _, ...event }) => event as Event)
  const marks = followHistory(NO_MARKS, events)
  expect(openGates(marks, { id: MACHINE })).toMatchObject([{ id: 'event-3', step: 'Ask' }])
})
