import { describe, expect, it } from 'vitest'
import { stepFunctions } from './backend.js'
import {
  awsError,
  context,
  EXECUTION,
  history,
  historyPages,
  look,
  MACHINE,
  scriptedClients,
} from './testing/scripted-clients.js'

const workflow = { id: MACHINE }

/** Failed, redriven, stopped, redriven, running. */
const EVENTS = history(
  [1, 0, 'ExecutionStarted'],
  [2, 0, 'TaskStateEntered', { name: 'Charge' }],
  [3, 2, 'TaskScheduled', { resource: 'invoke' }],
  [4, 3, 'TaskFailed', { error: 'CardDeclined' }],
  [5, 4, 'ExecutionFailed', { error: 'CardDeclined', cause: 'No funds.' }],
  [6, 0, 'ExecutionRedriven', { redriveCount: 1 }],
  [7, 4, 'TaskScheduled', { resource: 'invoke' }],
  [8, 0, 'ExecutionAborted', { error: 'Ops', cause: 'maintenance' }],
  [9, 0, 'ExecutionRedriven', { redriveCount: 2 }],
  [10, 7, 'TaskScheduled', { resource: 'invoke' }],
)

function at(described: object, attempt: number, events: { id: number }[] = EVENTS) {
  const clients = scriptedClients({
    DescribeExecution: { executionArn: EXECUTION, startDate: new Date(0), ...described },
    GetExecutionHistory: historyPages(() => events),
    StopExecution: {},
  })
  const backend = stepFunctions({ clients })
  const run = { id: EXECUTION, attempt }
  return {
    clients,
    get: () => backend.get(workflow, run, { ...look, gates: true }),
    cancel: () => backend.cancel(workflow, run, 'why', context),
  }
}

describe('after a redrive', () => {
  const running = { status: 'RUNNING', redriveCount: 2 }
  it('the end of the first attempt is read from the history', async () => {
    expect(await at(running, 0).get()).toMatchObject({
      kind: 'snapshot',
      snapshot: {
        state: 'failed',
        nativeState: 'FAILED',
        error: { code: 'CardDeclined', message: 'No funds.', step: 'Charge' },
        startedAt: 0,
        endedAt: EVENTS[4]?.timestamp.getTime(),
      },
    })
  })
  it('so is the end of the second, which is no failure', async () => {
    expect(await at(running, 1).get()).toMatchObject({
      snapshot: {
        state: 'cancelled',
        error: { code: 'Ops', message: 'Stopped outside of this server: maintenance' },
        endedAt: EVENTS[7]?.timestamp.getTime(),
      },
    })
  })
  it('the third goes on', async () => {
    expect(await at(running, 2).get()).toMatchObject({ snapshot: { state: 'running' } })
  })
  it('what a later attempt comes to does not change the end of ours', async () => {
    const ours = await at(running, 0).get()
    const later = await at({ status: 'SUCCEEDED', redriveCount: 2, output: '{}' }, 0).get()
    expect(later).toEqual(ours)
  })
  it('the end is found far back', async () => {
    const noise: Parameters<typeof history> = Array.from({ length: 2500 }, (_, index) => [
      11 + index,
      10,
      'PassStateEntered',
      { name: 'Loop' },
    ])
    expect(await at(running, 0, [...EVENTS, ...history(...noise)]).get()).toMatchObject({
      snapshot: { state: 'failed', error: { step: 'Charge' } },
    })
  })
  it('a history that does not show it says nothing', async () => {
    expect(await at(running, 0, EVENTS.slice(5)).get()).toMatchObject({ kind: 'unreadable' })
    expect(await at({ status: 'FAILED', redriveCount: 3 }, 2).get()).toMatchObject({ kind: 'unreadable' })
  })
  it('a history that can not be read says nothing', async () => {
    const clients = scriptedClients({
      DescribeExecution: running,
      GetExecutionHistory: awsError('AccessDeniedException'),
    })
    const run = { id: EXECUTION, attempt: 0 }
    const result = await stepFunctions({ clients }).get(workflow, run, look)
    expect(result).toMatchObject({ kind: 'unreadable', error: { code: 'denied' } })
  })
  it('an attempt that AWS does not show yet says nothing', async () => {
    expect(await at({ status: 'FAILED', redriveCount: 0 }, 1).get()).toMatchObject({ kind: 'unreadable' })
  })
})

describe('cancel', () => {
  it('stops our attempt', async () => {
    const { cancel, clients } = at({ status: 'RUNNING', redriveCount: 1 }, 1)
    expect(await cancel()).toEqual({ kind: 'sent' })
    expect(clients.sent.at(-1)).toEqual({
      client: 'writes',
      command: 'StopExecution',
      input: { executionArn: EXECUTION, error: 'Runbridge.Cancelled', cause: 'why' },
    })
  })
  it.each([
    ['a later attempt, which is not ours', { status: 'RUNNING', redriveCount: 1 }],
    ['an execution that has ended, though AWS would take it', { status: 'SUCCEEDED', redriveCount: 0 }],
  ])('never stops %s', async (_, described) => {
    const { cancel, clients } = at(described, 0)
    expect(await cancel()).toEqual({ kind: 'too_late' })
    expect(clients.sent.map((call) => call.command)).toEqual(['DescribeExecution'])
  })
})
