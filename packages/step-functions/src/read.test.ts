import type { Marks, RunRef } from '@runbridge/core'
import { manualClock } from '@runbridge/core/testing'
import { describe, expect, it } from 'vitest'
import { stepFunctions } from './backend.js'
import {
  awsError,
  EXECUTION,
  history,
  historyPages,
  look,
  MACHINE,
  scriptedClients,
} from './testing/scripted-clients.js'

const run = { id: EXECUTION, attempt: 0 }
const startDate = new Date(1000)
const CONSOLE = 'https://us-east-1.console.aws.amazon.com/states/home?region=us-east-1#'

type Script = Parameters<typeof scriptedClients>[0]

/** Looks at runs again and again, two seconds apart; each look tells what it asked of AWS. */
function watched(script: Script, { gates = false } = {}) {
  const clients = scriptedClients(script)
  const warnings: string[] = []
  const clock = manualClock()
  const backend = stepFunctions({ clients, clock, warn: (message) => warnings.push(message) })
  const marks = new Map<string, Marks>()
  const lookAt = async (watched: RunRef) => {
    const before = clients.sent.length
    const known = marks.get(watched.id)
    const asking = { ...look, gates, progress: true, ...(known && { marks: known }) }
    const result = await backend.get({ id: MACHINE }, watched, asking)
    if (result.kind === 'snapshot' && result.marks) marks.set(watched.id, result.marks)
    return { result, asked: clients.sent.slice(before).map(({ command }) => command) }
  }
  const next = () => {
    clock.jump(2_000)
    return lookAt(run)
  }
  return { next, lookAt, clock, warnings, clients }
}

async function snapshot(looked: ReturnType<ReturnType<typeof watched>['next']>) {
  const { result } = await looked
  if (result.kind !== 'snapshot') throw new Error(result.kind)
  return result.snapshot
}

const running = { status: 'RUNNING', executionArn: EXECUTION, startDate }
const EVENTS = history(
  [1, 0, 'ExecutionStarted'],
  [2, 0, 'WaitStateEntered', { name: 'Sleep' }],
  [3, 2, 'WaitStateExited', { name: 'Sleep' }],
  [4, 3, 'TaskStateEntered', { name: 'Charge' }],
  [5, 4, 'TaskScheduled', { resource: 'invoke' }],
)
const ENDED = [...EVENTS, ...history([6, 5, 'TaskFailed'], [7, 6, 'ExecutionFailed', { error: 'Boom' }])]

describe('a look at a run that was looked at before', () => {
  it.each([{ gates: false }, { gates: true }])('is one call while it goes on: %j', async (options) => {
    let length = 2
    const script = {
      DescribeExecution: running,
      GetExecutionHistory: historyPages(() => EVENTS.slice(0, length)),
    }
    const { next } = watched(script, options)
    expect((await next()).asked).toEqual(['DescribeExecution', 'GetExecutionHistory'])
    length = 5
    const { asked, result } = await next()
    expect(asked).toEqual(['GetExecutionHistory'])
    expect(result).toMatchObject({
      kind: 'snapshot',
      snapshot: { state: 'running', nativeState: 'RUNNING', startedAt: 1000, links: [{}] },
    })
    if (result.kind === 'snapshot') expect(result.snapshot.progress?.message).toMatch(/^Charge since/)
    expect((await next()).asked).toEqual(['GetExecutionHistory'])
  })

  it('asks for the status when the history has an end, and takes the failing state from what it read', async () => {
    let events = EVENTS
    const script = {
      DescribeExecution: [running, { ...running, status: 'FAILED', error: 'Boom' }],
      GetExecutionHistory: historyPages(() => events),
    }
    const { next } = watched(script)
    await next()
    events = ENDED
    const { asked, result } = await next()
    expect(asked).toEqual(['GetExecutionHistory', 'DescribeExecution'])
    expect(result).toMatchObject({ snapshot: { state: 'failed', error: { code: 'Boom', step: 'Charge' } } })
  })

  it.each([{ gates: false }, { gates: true }])(
    'never loses an end that the history has before the status: %j',
    async (options) => {
      let events = EVENTS
      const script = {
        DescribeExecution: [running, running, running, { ...running, status: 'FAILED', error: 'Boom' }],
        GetExecutionHistory: historyPages(() => events),
      }
      const { next } = watched(script, options)
      await next()
      events = ENDED
      for (let late = 0; late < 2; late += 1) {
        const { asked, result } = await next()
        expect(asked).toEqual(['GetExecutionHistory', 'DescribeExecution'])
        expect(result).toMatchObject({ snapshot: { state: 'running', gates: [] } })
      }
      expect(await snapshot(next())).toMatchObject({ state: 'failed', error: { step: 'Charge' } })
    },
  )

  it('asks for the status when it can not see all that happened since', async () => {
    let events = EVENTS
    const busy = Array.from({ length: 300 }, (_, index): [number, number, string, object] => [
      6 + index,
      5 + index,
      'PassStateEntered',
      { name: 'Loop' },
    ])
    const { next } = watched({
      DescribeExecution: running,
      GetExecutionHistory: historyPages(() => events),
    })
    await next()
    events = [...EVENTS, ...history(...busy)]
    expect((await next()).asked).toEqual(['GetExecutionHistory', 'DescribeExecution'])
    expect((await next()).asked).toEqual(['GetExecutionHistory'])
  })

  it('notices a redrive, of which the end of our attempt is read', async () => {
    let events = EVENTS
    const { next } = watched({
      DescribeExecution: [running, { ...running, redriveCount: 1 }],
      GetExecutionHistory: historyPages(() => events),
    })
    await next()
    events = [...ENDED, ...history([8, 0, 'ExecutionRedriven', { redriveCount: 1 }])]
    expect(await snapshot(next())).toMatchObject({ state: 'failed', error: { code: 'Boom', step: 'Charge' } })
  })

  it('asks for the status by itself every so often', async () => {
    const { next } = watched({ DescribeExecution: running, GetExecutionHistory: historyPages(() => EVENTS) })
    const asked: string[] = []
    for (let looks = 0; looks < 83; looks += 1) asked.push(...(await next()).asked)
    expect(asked.filter((command) => command === 'DescribeExecution')).toHaveLength(4)
    // An hour of looks at the widest interval stays within 90 calls.
    expect(asked.length).toBeLessThan(90)
  })

  it('is told by the status where the history can not be read', async () => {
    const { next, warnings } = watched({
      DescribeExecution: running,
      GetExecutionHistory: [historyPages(() => EVENTS), awsError('ThrottlingException')],
    })
    await next()
    const { asked, result } = await next()
    expect(asked).toEqual(['GetExecutionHistory', 'DescribeExecution'])
    expect(result).toMatchObject({ snapshot: { state: 'running' } })
    expect(warnings).toHaveLength(1)
  })

  it('is absent when AWS denies the execution and shows the state machine', async () => {
    const gone = awsError('ExecutionDoesNotExist')
    const { next } = watched({
      DescribeExecution: [running, gone],
      GetExecutionHistory: [historyPages(() => EVENTS), gone],
      DescribeStateMachine: {},
    })
    await next()
    expect((await next()).result).toEqual({ kind: 'absent' })
  })
})

describe('the state of a time-out, which AWS does not name', () => {
  const end = (status: string, events: { id: number }[]) =>
    watched({ DescribeExecution: { ...running, status }, GetExecutionHistory: historyPages(() => events) })
  it('is the one that was entered and not left', async () => {
    const events = [...EVENTS, ...history([6, 0, 'ExecutionTimedOut'])]
    expect(await snapshot(end('TIMED_OUT', events).next())).toMatchObject({
      state: 'timed_out',
      error: { code: 'States.Timeout', step: 'Charge' },
    })
  })
  it('are all of them, in parallel branches', async () => {
    const events = history(
      [1, 0, 'ParallelStateEntered', { name: 'Both' }],
      [2, 1, 'ParallelStateStarted'],
      [3, 2, 'TaskStateEntered', { name: 'A' }],
      [4, 2, 'TaskStateEntered', { name: 'B' }],
      [5, 0, 'ExecutionTimedOut'],
    )
    expect(await snapshot(end('TIMED_OUT', events).next())).toMatchObject({ error: { step: 'B, A' } })
  })
  it('is told of an attempt that was redriven, too', async () => {
    const events = [
      ...EVENTS,
      ...history([6, 0, 'ExecutionTimedOut'], [7, 0, 'ExecutionRedriven', { redriveCount: 1 }]),
    ]
    const { next } = watched({
      DescribeExecution: { ...running, redriveCount: 1 },
      GetExecutionHistory: historyPages(() => events),
    })
    expect(await snapshot(next())).toMatchObject({ state: 'timed_out', error: { step: 'Charge' } })
  })
})

describe('a distributed Map', () => {
  const mapRunArn = 'arn:aws:states:us-east-1:123456789012:mapRun:deploy/Files:1'
  const events = history(
    [1, 0, 'ExecutionStarted'],
    [2, 0, 'MapStateEntered', { name: 'Files' }],
    [3, 2, 'MapStateStarted', { length: 0 }],
    [4, 3, 'MapRunStarted', { mapRunArn }],
  )
  const counts = { pending: 5, running: 1, succeeded: 30, failed: 2, timedOut: 1, aborted: 1, total: 40 }
  const script = (mapRun: object | Error): Script => ({
    DescribeExecution: running,
    GetExecutionHistory: historyPages(() => events),
    DescribeMapRun: mapRun,
  })

  it('is counted by its Map Run, at every other look instead of the history', async () => {
    const { next, clients } = watched(script({ status: 'RUNNING', itemCounts: counts }))
    await next()
    const { asked, result } = await next()
    expect(asked).toEqual(['DescribeMapRun'])
    expect(clients.sent.at(-1)?.input).toEqual({ mapRunArn })
    const progress = { message: expect.stringMatching(/^Files \(4 failed\) since/), done: 34, total: 40 }
    expect(result).toMatchObject({ snapshot: { state: 'running', progress } })
    const third = await next()
    expect(third.asked).toEqual(['GetExecutionHistory'])
    expect(third.result).toMatchObject({ snapshot: { progress } })
    expect((await next()).asked).toEqual(['DescribeMapRun'])
  })
  it('that is over leaves the word to the history', async () => {
    const { next } = watched(script({ status: 'SUCCEEDED', itemCounts: counts }))
    await next()
    expect((await next()).asked).toEqual(['DescribeMapRun', 'GetExecutionHistory'])
  })
  it('shares what may be read a second with all others, and goes on by the history where that is used up', async () => {
    const { lookAt, clock, clients } = watched(script({ status: 'RUNNING', itemCounts: counts }))
    const runs = Array.from({ length: 10 }, (_, n) => ({ id: `${EXECUTION}-${n}`, attempt: 0 }))
    for (const each of runs) await lookAt(each)
    for (let second = 0; second < 20; second += 1) {
      clock.jump(1_000)
      for (const each of runs) {
        const { result } = await lookAt(each)
        expect(result).toMatchObject({ kind: 'snapshot', snapshot: { state: 'running' } })
      }
    }
    const counted = clients.sent.filter(({ command }) => command === 'DescribeMapRun')
    expect(counted).toHaveLength(10)
  })
  it('is counted less often while AWS throttles that, and no look fails for it', async () => {
    const throttled = awsError('ThrottlingException')
    const { next, clock, clients } = watched({
      ...script(throttled),
      DescribeMapRun: [throttled, throttled, { status: 'RUNNING', itemCounts: counts }],
    })
    const sent = () => clients.sent.filter(({ command }) => command === 'DescribeMapRun').length
    const seconds: number[] = []
    await next()
    for (let looks = 1; looks <= 20; looks += 1) {
      const { result } = await next()
      expect(result).toMatchObject({ kind: 'snapshot', snapshot: { state: 'running' } })
      if (sent() > seconds.length) seconds.push(looks * 2)
    }
    // Looks are 2 s apart and every other one may count: refused twice, then after 4 s, then after 8 s.
    expect(seconds.slice(0, 3)).toEqual([2, 6, 14])
    clock.jump(120_000)
    await next()
    const before = sent()
    for (let looks = 0; looks < 4; looks += 1) await next()
    expect(sent() - before).toBe(2)
  })
  it('goes on without counts where they may not be read', async () => {
    const { next, warnings } = watched(script(awsError('AccessDeniedException')))
    await next()
    const { asked, result } = await next()
    expect(asked).toEqual(['DescribeMapRun', 'GetExecutionHistory'])
    expect(result).toMatchObject({ snapshot: { state: 'running' } })
    expect(warnings.join()).toContain('states:DescribeMapRun')
  })
})

describe('nested executions', () => {
  const nested = 'arn:aws:states:us-east-1:123456789012:execution:pack:n-1'
  const output = (arn: string) => JSON.stringify({ ExecutionArn: arn, StartDate: 1 })
  const events = (arn: string, resource = 'startExecution.sync:2', type = 'TaskSubmitted') =>
    history(
      [1, 0, 'ExecutionStarted'],
      [2, 0, 'TaskStateEntered', { name: 'Pack' }],
      [3, 2, 'TaskScheduled', { resource, resourceType: 'states' }],
      [4, 3, 'TaskStarted', { resource, resourceType: 'states' }],
      [5, 4, type, { resource, resourceType: 'states', output: output(arn) }],
    )
  const link = {
    title: 'Nested execution of pack in the AWS console',
    url: `${CONSOLE}/v2/executions/details/${nested}`,
  }

  it.each([
    ['startExecution.sync', 'TaskSubmitted'],
    ['startExecution.sync:2', 'TaskSubmitted'],
    ['startExecution.waitForTaskToken', 'TaskSubmitted'],
    ['startExecution', 'TaskSucceeded'],
  ])('of %s are linked to from %s on, and read once', async (resource, type) => {
    let present = events(nested, resource, type)
    const { next, clients } = watched({
      DescribeExecution: [running, { ...running, status: 'SUCCEEDED', output: '{}' }],
      GetExecutionHistory: historyPages(() => present),
    })
    const first = await next()
    expect(first.asked).toEqual(['DescribeExecution', 'GetExecutionHistory', 'GetExecutionHistory'])
    expect(clients.sent.at(-1)?.input).toMatchObject({ includeExecutionData: true, maxResults: 1 })
    const second = await next()
    expect(second.asked).toEqual(['GetExecutionHistory'])
    for (const { result } of [first, second]) {
      expect(result).toMatchObject({ snapshot: { links: [{}, link] } })
    }
    present = [...present, ...history([6, 5, 'ExecutionSucceeded'])]
    expect(await snapshot(next())).toMatchObject({ state: 'succeeded', links: [{}, link] })
  })
  it.each(['sendMessage', 'startExecutionOf', 'startSyncExecution'])('are none of %s', async (resource) => {
    const { next } = watched({
      DescribeExecution: running,
      GetExecutionHistory: historyPages(() => events(nested, resource)),
    })
    const { asked, result } = await next()
    expect(asked).toEqual(['DescribeExecution', 'GetExecutionHistory'])
    if (result.kind === 'snapshot') expect(result.snapshot.links).toHaveLength(1)
  })
  it.each([
    'https://evil.example',
    'arn:aws:states:us-east-1:1:execution:a:b',
    'arn:aws:iam::123456789012:role/x',
  ])('are not what a task claims to be one: %s', async (arn) => {
    const { next } = watched({
      DescribeExecution: running,
      GetExecutionHistory: historyPages(() => events(arn)),
    })
    expect((await snapshot(next())).links).toHaveLength(1)
  })
  it('are not linked to where they can not be read, and all else stands', async () => {
    const pages = historyPages(() => events(nested))
    const { next, warnings } = watched({
      DescribeExecution: running,
      GetExecutionHistory: (input) =>
        input.includeExecutionData ? awsError('ThrottlingException') : pages(input),
    })
    const shown = await snapshot(next())
    expect(shown.links).toHaveLength(1)
    expect(shown.progress?.message).toMatch(/^Pack since/)
    expect(warnings).toHaveLength(1)
  })
})
