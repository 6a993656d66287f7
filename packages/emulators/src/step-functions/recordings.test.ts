import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  DescribeExecutionCommand,
  SendTaskFailureCommand,
  SendTaskSuccessCommand,
  type SFNClient,
  type SFNServiceException,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { describe, expect, it } from 'vitest'
import { emulated, historyOf, openTasks } from './emulator-fixture.js'
import type { StepFunctionsEmulator } from './index.js'

/** A folder of answers recorded from AWS, in the form of LocalStack's test snapshots. */
const folder = process.env.RUNBRIDGE_RECORDINGS
if (!folder)
  console.warn(
    'SKIPPED: comparisons with recordings of AWS; RUNBRIDGE_RECORDINGS does not name their folder.',
  )

// biome-ignore lint/suspicious/noExplicitAny: snapshots of many shapes
type Recorded = Record<string, any>

function recording(file: string, test: string): Recorded {
  const tests = JSON.parse(readFileSync(join(folder as string, file), 'utf8')) as Recorded
  const key = Object.keys(tests).find((name) => name.endsWith(`::${test}`))
  return (tests[key as string] as Recorded)['recorded-content'] as Recorded
}

/** Recordings show JSON strings parsed, and placeholders in angle brackets for what differs between runs. */
function expectRecorded(recorded: unknown, actual: unknown): void {
  expect(comparable(actual, recorded)).toEqual(recorded)
}

const unstable = [
  'ResponseMetadata',
  '$metadata',
  'roleArn',
  'timestamp',
  'startDate',
  'stopDate',
  'creationDate',
]

function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable)
  if (typeof value !== 'object' || value === null) return value
  const submitted = 'taskSubmittedEventDetails' in value ? ['taskSubmittedEventDetails'] : []
  const kept = Object.entries(value).filter(([key]) => ![...unstable, ...submitted].includes(key))
  return Object.fromEntries(kept.map(([key, inner]) => [key, stable(inner)]))
}

function comparable(actual: unknown, recorded: unknown): unknown {
  if (typeof actual === 'string' && typeof recorded === 'string' && recorded.includes('<')) {
    const escaped = recorded.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/<+[^<>]+>(:\d+>)?/g, '.+')
    return new RegExp(`^${escaped}$`).test(actual) ? recorded : actual
  }
  if (typeof actual === 'string' && typeof recorded === 'object')
    return comparable(JSON.parse(actual), recorded)
  if (Array.isArray(actual) && Array.isArray(recorded))
    return actual.map((item, at) => comparable(item, recorded[at]))
  if (typeof actual !== 'object' || actual === null || typeof recorded !== 'object') return actual
  const fields = Object.entries(actual).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    fields.map(([key, value]) => [key, comparable(value, (recorded as Recorded)?.[key])]),
  )
}

/** The account of the recordings. */
const accountId = '111111111111'

const error = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    ({ name, message, $metadata }: SFNServiceException) => ({
      Error: { Code: name, Message: message },
      message,
      status: $metadata.httpStatusCode,
    }),
  )

async function run(
  emulator: StepFunctionsEmulator,
  client: SFNClient,
  machine: string,
  input: unknown,
): Promise<string> {
  const stateMachineArn = emulator.stateMachineArn(machine)
  const command = new StartExecutionCommand({ stateMachineArn, input: JSON.stringify(input) })
  return (await client.send(command)).executionArn as string
}

describe.skipIf(!folder)('StartExecution, as recorded from AWS', () => {
  it('answers the same again while it runs, and ExecutionAlreadyExists otherwise', async () => {
    const recorded = recording('test_sfn_api.json', 'test_start_execution_idempotent')
    const wait = { StartAt: 'State_1', States: { State_1: { Type: 'Wait', Seconds: 300, End: true } } }
    const { emulator, client } = await emulated({ accountId, stateMachines: { wait } })
    const stateMachineArn = emulator.stateMachineArn('wait')
    const start = (input: string) =>
      client.send(new StartExecutionCommand({ stateMachineArn, name: 'one', input }))
    const first = await start('{"a":1}')
    const again = await start('{"a":1}')
    expectRecorded(stable(recorded.exec_resp), stable(first))
    expectRecorded(stable(recorded.exec_resp_idempotent), stable(again))
    expect([again.executionArn, again.startDate]).toEqual([first.executionArn, first.startDate])
    const refused = recorded.start_exec_already_exists as Recorded
    const expected = {
      ...(stable(refused) as object),
      status: (refused.ResponseMetadata as Recorded).HTTPStatusCode,
    }
    expectRecorded(expected, await error(start('{"a":2}')))
    const stopped = await client.send(new StopExecutionCommand({ executionArn: first.executionArn }))
    expectRecorded(stable(recorded.stop_res), stable(stopped))
    expectRecorded(expected, await error(start('{"a":1}')))
  })

  it('refuses an unknown machine in the same words', async () => {
    const { start_exec_of_deleted } = recording('test_sfn_api.json', 'test_invalid_start_execution_arn')
    const { emulator, client } = await emulated({ accountId })
    const stateMachineArn = emulator.stateMachineArn('statemachine_invalid_x')
    const refused = await error(client.send(new StartExecutionCommand({ stateMachineArn })))
    expectRecorded({ ...(stable(start_exec_of_deleted) as object), status: 400 }, refused)
  })
})

const sendMessage = (more: object = {}, body: object = { 'Message.$': '$.Message' }) => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::sqs:sendMessage.waitForTaskToken',
  Parameters: { 'QueueUrl.$': '$.QueueUrl', MessageBody: { ...body, 'TaskToken.$': '$$.Task.Token' } },
  End: true,
  ...more,
})
const one = (name: string, state: object) => ({ StartAt: name, States: { [name]: state } })
const caught = {
  Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.states_all_error', Next: 'CaughtStatesALL' }],
}
const CaughtStatesALL = { Type: 'Pass', End: true }
const withContext = sendMessage({}, { 'Context.$': '$' })

const machines = {
  pass: one('State_1', { Type: 'Pass', Result: { Arg1: 'argument1' }, End: true }),
  fail: one('FailState', {
    Type: 'Fail',
    Error: 'SomeFailure',
    Cause: "This state machines raises a 'SomeFailure' failure.",
  }),
  failEmpty: one('FailState', { Type: 'Fail' }),
  wait: one('State_1', { Type: 'Wait', Seconds: 300, End: true }),
  callback: one('SendMessageWithWait', sendMessage()),
  timeout: one('SendMessageWithWaitAndTimeout', sendMessage({ TimeoutSeconds: 1 })),
  heartbeat: one('SendMessageWithWait', sendMessage({ TimeoutSeconds: 600, HeartbeatSeconds: 60 })),
  catching: {
    StartAt: 'SendMessageWithWait',
    States: { SendMessageWithWait: { ...withContext, ...caught }, CaughtStatesALL },
  },
  parallel: {
    StartAt: 'ParallelJob',
    States: {
      ParallelJob: {
        Type: 'Parallel',
        Branches: [one('SendMessageWithWait', withContext)],
        ...caught,
        End: true,
      },
      CaughtStatesALL,
    },
  },
}

type Answer = (client: SFNClient, taskToken: string) => Promise<unknown>
const succeed: Answer = (client, taskToken) =>
  client.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify('test_message_txt') }))
const fail: Answer = (client, taskToken) =>
  client.send(new SendTaskFailureCommand({ taskToken, error: 'Failure error', cause: 'Failure cause' }))
const failBare: Answer = (client, taskToken) => client.send(new SendTaskFailureCommand({ taskToken }))

describe.skipIf(!folder)('histories, as recorded from AWS', () => {
  it.each<[file: string, test: string, machine: keyof typeof machines, answer?: Answer]>([
    ['test_base.json', 'test_state_fail', 'fail'],
    ['test_base.json', 'test_state_fail_empty', 'failEmpty'],
    ['test_sfn_api.json', 'test_start_execution', 'pass'],
    ['test_callback.json', 'test_sqs_wait_for_task_token', 'callback', succeed],
    ['test_callback.json', 'test_sqs_wait_for_task_token_timeout', 'timeout'],
    ['test_callback.json', 'test_sqs_failure_in_wait_for_task_token', 'callback', fail],
    ['test_callback.json', 'test_sqs_wait_for_task_tok_with_heartbeat', 'heartbeat', succeed],
    [
      'test_callback.json',
      'test_sqs_failure_in_wait_for_task_tok_no_error_field[SQS_WAIT_FOR_TASK_TOKEN_CATCH]',
      'catching',
      failBare,
    ],
    [
      'test_callback.json',
      'test_sqs_failure_in_wait_for_task_tok_no_error_field[SQS_PARALLEL_WAIT_FOR_TASK_TOKEN]',
      'parallel',
      failBare,
    ],
  ])('%s %s', async (file, test, machine, answer) => {
    const recorded = recording(file, test)
    const { events } = (recorded.get_execution_history ?? recorded.exec_hist_resp) as { events: Recorded[] }
    const { input } = (events[0] as Recorded).executionStartedEventDetails as Recorded
    const { emulator, client } = await emulated({
      accountId,
      stateMachines: { [machine]: machines[machine] },
    })
    const executionArn = await run(emulator, client, machine, input)
    if (answer) {
      const [task] = await openTasks(emulator, 1)
      await answer(client, task?.token as string)
    }
    await emulator.ended(executionArn)
    const expected = JSON.parse(
      JSON.stringify(stable(events)).replaceAll('"timeoutInSeconds":5', '"timeoutInSeconds":1'),
    )
    expectRecorded(expected, stable(await historyOf(client, executionArn)))
    if (!('describe_execution' in recorded)) return
    const described = await client.send(new DescribeExecutionCommand({ executionArn }))
    expectRecorded(stable(recorded.describe_execution), stable(described))
  })

  it('test_sfn_api.json test_stop_execution', async () => {
    const { exec_hist_resp } = recording('test_sfn_api.json', 'test_stop_execution') as {
      exec_hist_resp: Recorded
    }
    const { emulator, client } = await emulated({ accountId, stateMachines: { wait: machines.wait } })
    const executionArn = await run(emulator, client, 'wait', {})
    await client.send(new StopExecutionCommand({ executionArn }))
    expectRecorded(stable(exec_hist_resp.events), stable(await historyOf(client, executionArn)))
  })
})
