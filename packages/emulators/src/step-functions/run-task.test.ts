import {
  DescribeExecutionCommand,
  RedriveExecutionCommand,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  type SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import { describe, expect, it } from 'vitest'
import { emulated, gate, historyOf, openTasks, outline } from './emulator-fixture.js'

const { Approve } = gate.States
const withState = (more: object) => ({
  ...gate,
  States: { ...gate.States, Approve: { ...Approve, ...more } },
})

async function start(
  client: SFNClient,
  stateMachineArn: string,
  input: object = { version: 7 },
): Promise<string> {
  const { executionArn } = await client.send(
    new StartExecutionCommand({ stateMachineArn, input: JSON.stringify(input) }),
  )
  return executionArn as string
}

describe('a task that waits for its token', () => {
  it('shows the token in its parameters and goes on with the answer', async () => {
    const { emulator, client } = await emulated({ stateMachines: { gate } })
    const executionArn = await start(client, emulator.stateMachineArn('gate'))
    await openTasks(emulator, 1)
    const scheduled = (await historyOf(client, executionArn)).find(({ type }) => type === 'TaskScheduled')
    expect(scheduled?.taskScheduledEventDetails).toMatchObject({
      resource: 'sendMessage.waitForTaskToken',
      resourceType: 'sqs',
      region: 'us-east-1',
    })
    const { MessageBody } = JSON.parse(scheduled?.taskScheduledEventDetails?.parameters ?? '{}')
    expect(MessageBody.Message).toBe('deploy 7')
    const taskToken: string = MessageBody.TaskToken
    expect(emulator.openTasks()).toEqual([{ token: taskToken, executionArn, stateName: 'Approve' }])
    await client.send(new SendTaskSuccessCommand({ taskToken, output: '{"approved":true}' }))
    expect(await emulator.ended(executionArn)).toMatchObject({
      status: 'SUCCEEDED',
      output: '{"approved":true}',
    })
    expect(outline(await historyOf(client, executionArn))).toEqual([
      '1<0 ExecutionStarted',
      '2<0 TaskStateEntered',
      '3<2 TaskScheduled',
      '4<3 TaskStarted',
      '5<4 TaskSubmitted',
      '6<5 TaskSucceeded',
      '7<6 TaskStateExited',
      '8<7 ExecutionSucceeded',
    ])
    const again = client.send(new SendTaskSuccessCommand({ taskToken, output: '{}' }))
    await expect(again).rejects.toMatchObject({ name: 'TaskTimedOut' })
  })

  it('tells tokens that are malformed, unknown and no longer waited for apart', async () => {
    const { emulator, client } = await emulated({ stateMachines: { gate } })
    const executionArn = await start(client, emulator.stateMachineArn('gate'))
    const [task] = await openTasks(emulator, 1)
    const token = task?.token as string
    const heartbeat = (taskToken: string) => client.send(new SendTaskHeartbeatCommand({ taskToken }))
    await heartbeat(token)
    await expect(heartbeat('nonsense')).rejects.toMatchObject({ name: 'InvalidToken' })
    const other = token.slice(0, -4) + (token.endsWith('AAAA') ? 'BBBB' : 'AAAA')
    await expect(heartbeat(other)).rejects.toMatchObject({ name: 'TaskDoesNotExist' })
    await expect(
      client.send(new SendTaskSuccessCommand({ taskToken: token, output: 'no' })),
    ).rejects.toMatchObject({ name: 'InvalidOutput' })
    await client.send(new SendTaskFailureCommand({ taskToken: token, error: 'No', cause: 'denied' }))
    expect(await emulator.ended(executionArn)).toMatchObject({
      status: 'FAILED',
      error: 'No',
      cause: 'denied',
    })
    await expect(heartbeat(token)).rejects.toMatchObject({ name: 'TaskTimedOut' })
  })

  it('fails the execution with States.Timeout when nobody answers in time', async () => {
    const { emulator, client } = await emulated({ stateMachines: { gate: withState({ TimeoutSeconds: 1 }) } })
    const executionArn = await start(client, emulator.stateMachineArn('gate'))
    expect(await emulator.ended(executionArn)).toMatchObject({
      status: 'FAILED',
      error: 'States.Timeout',
      cause: undefined,
    })
    expect(outline(await historyOf(client, executionArn)).slice(-2)).toEqual([
      '6<5 TaskTimedOut',
      '7<6 ExecutionFailed',
    ])
  })

  it('misses a heartbeat, which States.Timeout catches and States.TaskFailed does not', async () => {
    const Catch = [
      { ErrorEquals: ['States.TaskFailed'], Next: 'Wrong' },
      { ErrorEquals: ['States.Timeout'], Next: 'Late' },
    ]
    const definition = withState({ HeartbeatSeconds: 1, Catch })
    Object.assign(definition.States, { Wrong: { Type: 'Fail' }, Late: { Type: 'Succeed' } })
    const { emulator, client } = await emulated({ stateMachines: { gate: definition } })
    const executionArn = await start(client, emulator.stateMachineArn('gate'))
    expect(await emulator.ended(executionArn)).toMatchObject({ status: 'SUCCEEDED' })
  })

  it('is scheduled again by Retry with a new token, then caught', async () => {
    const Retry = [{ ErrorEquals: ['Flaky'], IntervalSeconds: 0, MaxAttempts: 1 }]
    const definition = withState({
      Retry,
      Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.why', Next: 'Done' }],
    })
    Object.assign(definition.States, { Done: { Type: 'Succeed' } })
    const { emulator, client } = await emulated({ stateMachines: { gate: definition } })
    const executionArn = await start(client, emulator.stateMachineArn('gate'))
    const tokens = new Set<string>()
    for (const error of ['Flaky', 'Flaky']) {
      const [task] = await openTasks(emulator, 1)
      const taskToken = task?.token as string
      tokens.add(taskToken)
      await client.send(new SendTaskFailureCommand({ taskToken, error }))
    }
    const { output } = await emulator.ended(executionArn)
    expect(JSON.parse(output ?? '')).toEqual({ version: 7, why: { Error: 'Flaky', Cause: null } })
    expect(tokens.size).toBe(2)
    const types = (await historyOf(client, executionArn)).map(({ type }) => type)
    expect(types.filter((type) => type === 'TaskScheduled')).toHaveLength(2)
    expect(types.filter((type) => type === 'TaskStateEntered')).toHaveLength(1)
  })
})

describe('local functions', () => {
  const invoke = (more: object = {}) => ({
    StartAt: 'Greet',
    States: {
      Greet: {
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke',
        Parameters: { FunctionName: 'greet', 'Payload.$': '$' },
        OutputPath: '$.Payload',
        End: true,
        ...more,
      },
    },
  })

  it('stand in for Lambda by function name, through the service and by ARN', async () => {
    const direct = {
      StartAt: 'Greet',
      States: {
        Greet: { Type: 'Task', Resource: 'arn:aws:lambda:us-east-1:111122223333:function:greet', End: true },
      },
    }
    const { emulator, client } = await emulated({
      stateMachines: { invoke: invoke(), direct },
      tasks: { greet: (input) => ({ hello: (input as { name: string }).name }) },
    })
    const byService = await start(client, emulator.stateMachineArn('invoke'), { name: 'Ada' })
    expect(await emulator.ended(byService)).toMatchObject({ output: '{"hello":"Ada"}' })
    const byArn = await start(client, emulator.stateMachineArn('direct'), { name: 'Bo' })
    expect(await emulator.ended(byArn)).toMatchObject({ output: '{"hello":"Bo"}' })
    expect((await historyOf(client, byArn)).map(({ type }) => type)).toEqual([
      'ExecutionStarted',
      'TaskStateEntered',
      'LambdaFunctionScheduled',
      'LambdaFunctionStarted',
      'LambdaFunctionSucceeded',
      'TaskStateExited',
      'ExecutionSucceeded',
    ])
  })

  it('fail the state with the name and message of what they throw', async () => {
    const greet = () => {
      throw Object.assign(new Error('no greeting'), { name: 'Shy' })
    }
    const { emulator, client } = await emulated({ stateMachines: { invoke: invoke() }, tasks: { greet } })
    const executionArn = await start(client, emulator.stateMachineArn('invoke'))
    const { status, error, cause } = await client
      .send(new DescribeExecutionCommand({ executionArn }))
      .then(async () => {
        await emulator.ended(executionArn)
        return client.send(new DescribeExecutionCommand({ executionArn }))
      })
    expect({ status, error }).toEqual({ status: 'FAILED', error: 'Shy' })
    expect(JSON.parse(cause ?? '')).toMatchObject({ errorType: 'Shy', errorMessage: 'no greeting' })
  })

  it('are missed by name', async () => {
    const { emulator, client } = await emulated({ stateMachines: { invoke: invoke() } })
    const executionArn = await start(client, emulator.stateMachineArn('invoke'))
    const ending = await emulator.ended(executionArn)
    expect(ending).toMatchObject({ status: 'FAILED', error: 'States.TaskFailed' })
    expect(ending.cause).toContain("('Greet')")
  })

  it('return too much: States.DataLimitExceeded', async () => {
    const { emulator, client } = await emulated({
      stateMachines: { invoke: invoke({ Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Greet' }] }) },
      tasks: { greet: () => 'x'.repeat(262_144) },
    })
    const executionArn = await start(client, emulator.stateMachineArn('invoke'))
    expect(await emulator.ended(executionArn)).toMatchObject({ error: 'States.DataLimitExceeded' })
  })

  it('and other states alike: an output of more than 256 KiB ends the execution', async () => {
    const Double = { Type: 'Pass', Parameters: { 'twice.$': 'States.Array($.a, $.a)' }, End: true }
    const { emulator, client } = await emulated({
      stateMachines: { double: { StartAt: 'Double', States: { Double } } },
    })
    const executionArn = await start(client, emulator.stateMachineArn('double'), { a: 'x'.repeat(200_000) })
    expect(await emulator.ended(executionArn)).toMatchObject({
      status: 'FAILED',
      error: 'States.DataLimitExceeded',
    })
  })

  it('run again in the same execution by a redrive, from the state that failed', async () => {
    let broken = true
    const calls: unknown[] = []
    const definition = invoke()
    const States = {
      First: { Type: 'Pass', Result: { n: 0 }, ResultPath: '$.first', Next: 'Greet' },
      ...definition.States,
    }
    const greet = (input: unknown) => {
      calls.push(input)
      if (broken) throw new Error('broken')
      return 'fine'
    }
    const { emulator, client } = await emulated({
      stateMachines: { invoke: { StartAt: 'First', States } },
      tasks: { greet },
    })
    const executionArn = await start(client, emulator.stateMachineArn('invoke'))
    await emulator.ended(executionArn)
    broken = false
    await client.send(new RedriveExecutionCommand({ executionArn }))
    expect(await emulator.ended(executionArn)).toMatchObject({ status: 'SUCCEEDED', output: '"fine"' })
    expect(calls[1]).toEqual(calls[0])
    expect(await client.send(new DescribeExecutionCommand({ executionArn }))).toMatchObject({
      redriveCount: 1,
      redriveDate: expect.any(Date),
    })
    expect(outline(await historyOf(client, executionArn)).slice(7)).toEqual([
      '8<7 ExecutionFailed',
      '9<8 ExecutionRedriven',
      '10<9 TaskScheduled',
      '11<10 TaskStarted',
      '12<11 TaskSucceeded',
      '13<12 TaskStateExited',
      '14<13 ExecutionSucceeded',
    ])
    const again = client.send(new RedriveExecutionCommand({ executionArn }))
    await expect(again).rejects.toMatchObject({ name: 'ExecutionNotRedrivable' })
  })
})
