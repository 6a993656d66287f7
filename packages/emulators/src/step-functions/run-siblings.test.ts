import {
  SendTaskFailureCommand,
  SendTaskSuccessCommand,
  type SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import { describe, expect, it } from 'vitest'
import { emulated, historyOf, openTasks } from './emulator-fixture.js'

const approval = (name: string) => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::sns:publish.waitForTaskToken',
  Parameters: {
    Message: {
      'token.$': '$$.Task.Token',
      'run.$': '$$.Execution.Name',
      'of.$': '$$.Execution.Input.of',
      name,
    },
  },
  End: true,
})
const branch = (name: string) => ({ StartAt: name, States: { [name]: approval(name) } })
const parallel = (more: object = {}) => ({
  StartAt: 'Both',
  States: {
    Both: { Type: 'Parallel', Branches: [branch('Left'), branch('Right')], End: true, ...more },
    ...('Catch' in more && { Caught: { Type: 'Pass', End: true } }),
  },
})
const caught = { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }] }
const map = {
  StartAt: 'Each',
  States: {
    Each: {
      Type: 'Map',
      ItemsPath: '$.items',
      ItemSelector: { 'item.$': '$$.Map.Item.Value', 'index.$': '$$.Map.Item.Index', 'all.$': '$.items' },
      ItemProcessor: {
        StartAt: 'Ask',
        States: {
          Ask: {
            ...approval('Ask'),
            Parameters: { 'token.$': '$$.Task.Token', 'given.$': '$', 'value.$': '$$.Map.Item.Value' },
          },
        },
      },
      End: true,
    },
  },
}

async function start(client: SFNClient, stateMachineArn: string, input: object): Promise<string> {
  const command = new StartExecutionCommand({ stateMachineArn, name: 'run', input: JSON.stringify(input) })
  return (await client.send(command)).executionArn as string
}
const success = (client: SFNClient, taskToken: string, output: unknown) =>
  client.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(output) }))

describe('a Parallel state', () => {
  it('waits for a token in each branch, whatever their order', async () => {
    const { emulator, client } = await emulated({ stateMachines: { parallel: parallel() } })
    const executionArn = await start(client, emulator.stateMachineArn('parallel'), { of: 'all' })
    const tasks = await openTasks(emulator, 2)
    for (const { token, stateName } of tasks.toReversed()) await success(client, token, stateName)
    expect(await emulator.ended(executionArn)).toMatchObject({ output: '["Left","Right"]' })
    const events = await historyOf(client, executionArn)
    for (const event of events.filter(({ type }) => type === 'TaskScheduled')) {
      const { Message } = JSON.parse(event.taskScheduledEventDetails?.parameters ?? '')
      expect(Message).toMatchObject({ run: 'run', of: 'all' })
      const entered = events.find(({ id }) => id === event.previousEventId)
      expect(entered?.stateEnteredEventDetails?.name).toBe(Message.name)
      expect(events.find(({ id }) => id === entered?.previousEventId)?.type).toBe('ParallelStateStarted')
    }
  })

  it('aborts the other branches when one fails, and their tokens are too late', async () => {
    const { emulator, client } = await emulated({ stateMachines: { parallel: parallel(caught) } })
    const executionArn = await start(client, emulator.stateMachineArn('parallel'), { of: 'all' })
    const [left, right] = await openTasks(emulator, 2)
    await client.send(new SendTaskFailureCommand({ taskToken: left?.token, error: 'No' }))
    expect(await emulator.ended(executionArn)).toMatchObject({
      status: 'SUCCEEDED',
      output: '{"Error":"No","Cause":null}',
    })
    await expect(success(client, right?.token as string, {})).rejects.toMatchObject({ name: 'TaskTimedOut' })
    const events = await historyOf(client, executionArn)
    const types = events.map(({ type }) => type)
    expect(types.slice(types.indexOf('TaskFailed'))).toEqual([
      'TaskFailed',
      'TaskStateAborted',
      'TaskStateAborted',
      'ParallelStateFailed',
      'ParallelStateExited',
      'PassStateEntered',
      'PassStateExited',
      'ExecutionSucceeded',
    ])
  })

  it('leaves nothing waiting in the levels below when a sibling of theirs fails', async () => {
    const nested = parallel(caught)
    nested.States.Both.Branches[1] = { StartAt: 'Inner', States: { Inner: { ...map.States.Each } as never } }
    const { emulator, client } = await emulated({ stateMachines: { nested } })
    const executionArn = await start(client, emulator.stateMachineArn('nested'), { of: 'all', items: [1, 2] })
    const tasks = await openTasks(emulator, 3)
    const left = tasks.find(({ stateName }) => stateName === 'Left')
    await client.send(new SendTaskFailureCommand({ taskToken: left?.token, error: 'No' }))
    await emulator.ended(executionArn)
    expect(emulator.openTasks()).toEqual([])
    const types = (await historyOf(client, executionArn)).map(({ type }) => type)
    const count = (wanted: string) => types.filter((type) => type === wanted).length
    expect([count('TaskStateAborted'), count('MapStateAborted'), count('MapIterationAborted')]).toEqual([
      3, 1, 2,
    ])
  })
})

describe('a Map state', () => {
  it('waits for a token in each iteration, with the item of its own', async () => {
    const { emulator, client } = await emulated({ stateMachines: { map } })
    const executionArn = await start(client, emulator.stateMachineArn('map'), { items: ['a', 'b', 'c'] })
    await openTasks(emulator, 3)
    const scheduled = (await historyOf(client, executionArn)).filter(({ type }) => type === 'TaskScheduled')
    for (const { taskScheduledEventDetails } of scheduled.toReversed()) {
      const { token, given, value } = JSON.parse(taskScheduledEventDetails?.parameters ?? '')
      expect(given).toEqual({ item: value, index: 'abc'.indexOf(value), all: ['a', 'b', 'c'] })
      await success(client, token, value.toUpperCase())
    }
    expect(await emulator.ended(executionArn)).toMatchObject({ output: '["A","B","C"]' })
    const events = await historyOf(client, executionArn)
    const iterations = events.filter(({ type }) => type === 'MapIterationSucceeded')
    expect(
      iterations.map(({ mapIterationSucceededEventDetails }) => mapIterationSucceededEventDetails?.index),
    ).toEqual([2, 1, 0])
    expect(events.find(({ type }) => type === 'MapStateStarted')?.mapStateStartedEventDetails).toEqual({
      length: 3,
    })
  })

  it('runs no more iterations at a time than MaxConcurrency', async () => {
    const definition = structuredClone(map) as typeof map & { States: { Each: { MaxConcurrency?: number } } }
    definition.States.Each.MaxConcurrency = 1
    const { emulator, client } = await emulated({ stateMachines: { map: definition } })
    const executionArn = await start(client, emulator.stateMachineArn('map'), { items: ['a', 'b'] })
    for (let asked = 0; asked < 2; asked++) {
      const [task] = await openTasks(emulator, 1)
      await success(client, task?.token as string, asked)
    }
    expect(await emulator.ended(executionArn)).toMatchObject({ output: '[0,1]' })
  })

  it('fails with its first failing iteration', async () => {
    const { emulator, client } = await emulated({ stateMachines: { map } })
    const executionArn = await start(client, emulator.stateMachineArn('map'), { items: ['a', 'b'] })
    const [, second] = await openTasks(emulator, 2)
    await client.send(new SendTaskFailureCommand({ taskToken: second?.token, error: 'No', cause: 'b' }))
    expect(await emulator.ended(executionArn)).toMatchObject({ status: 'FAILED', error: 'No', cause: 'b' })
    const types = (await historyOf(client, executionArn)).map(({ type }) => type)
    expect(types.slice(-3)).toEqual(['MapIterationFailed', 'MapStateFailed', 'ExecutionFailed'])
  })
})
