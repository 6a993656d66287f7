import { DescribeStateMachineCommand } from '@aws-sdk/client-sfn'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { checkAccess } from './check-access.js'
import type { StepFunctionsClient } from './clients.js'
import { FEATURES, PERMISSIONS, permissionsFor } from './permissions.js'
import { emulatedClients, startEngine } from './testing/emulated-engine.js'
import { awsError, context, MACHINE, scriptedClients } from './testing/scripted-clients.js'

const DISTRIBUTED = JSON.stringify({
  StartAt: 'Both',
  States: {
    Both: {
      Type: 'Parallel',
      Branches: [
        {
          StartAt: 'Files',
          States: { Files: { Type: 'Map', ItemProcessor: { ProcessorConfig: { Mode: 'DISTRIBUTED' } } } },
        },
      ],
    },
  },
})

/** The emulator runs no distributed Map, so that the definition is given here. */
function withDefinition(client: StepFunctionsClient): StepFunctionsClient {
  const send = async (command: never, options: never) => {
    const answer = (await client.send(command, options)) as object
    const described = (command as unknown) instanceof DescribeStateMachineCommand
    return described ? { ...answer, definition: DISTRIBUTED } : answer
  }
  return { send: send as unknown as StepFunctionsClient['send'] }
}

describe('permissions', () => {
  it('are each listed once, on what IAM authorizes', () => {
    const grants = permissionsFor(['start', 'follow', 'cancel', 'gates'], `${MACHINE}:PROD`)
    const actions = grants.map((grant) => grant.action)
    expect(new Set(actions).size).toBe(actions.length)
    const executions = 'arn:aws:states:us-east-1:123456789012:execution:deploy:*'
    expect(Object.fromEntries(grants.map(({ action, resource }) => [action, resource]))).toEqual({
      'states:DescribeStateMachine': MACHINE,
      'states:StartExecution': MACHINE,
      'states:DescribeExecution': executions,
      'states:StopExecution': executions,
      'states:GetExecutionHistory': executions,
      'states:SendTaskSuccess': MACHINE,
      'states:SendTaskFailure': MACHINE,
    })
  })
  it('are named for every feature', () => {
    for (const feature of FEATURES) expect(PERMISSIONS[feature].length).toBeGreaterThan(0)
  })
})

describe('checkAccess against an engine', async () => {
  const emulator = await startEngine('STANDARD')
  const clients = emulatedClients(emulator)
  afterEach(() => emulator.faults.clear())
  afterAll(async () => {
    clients.close()
    await emulator.close()
  })
  const check = async () => {
    const asked = { ...clients, reads: withDefinition(clients.reads) }
    const reports = await checkAccess(asked, emulator.stateMachineArn('echoes'), FEATURES, context)
    return Object.fromEntries(reports.map(({ action, access }) => [action, access]))
  }
  const allowed = {
    'states:DescribeStateMachine': 'allowed',
    'states:DescribeExecution': 'allowed',
    'states:GetExecutionHistory': 'allowed',
    'states:DescribeMapRun': 'allowed',
    'states:StopExecution': 'allowed',
    'states:SendTaskSuccess': 'allowed',
    'states:SendTaskFailure': 'allowed',
    'states:ListStateMachines': 'allowed',
    'states:StartExecution': 'unsure',
    'states:StartSyncExecution': 'unsure',
  }

  it('tells what is allowed, and that a start can not be tried', async () => {
    expect(await check()).toEqual(allowed)
  })
  it('starts, stops and answers nothing', async () => {
    emulator.resetCalls()
    await check()
    expect(emulator.executions()).toEqual([])
    expect(Object.keys(emulator.calls().byOperation).filter((name) => name.startsWith('Start'))).toEqual([])
  })
  it.each([
    'DescribeStateMachine',
    'DescribeExecution',
    'GetExecutionHistory',
    'DescribeMapRun',
    'StopExecution',
    'ListStateMachines',
  ] as const)('tells that %s is missing', async (operation) => {
    emulator.faults.always(operation, { kind: 'denied' })
    expect(await check()).toEqual({ ...allowed, [`states:${operation}`]: 'missing' })
  })
  it('does not take a denial of no task for one of all tasks', async () => {
    emulator.faults.always('SendTaskSuccess', { kind: 'denied' })
    expect(await check()).toEqual({ ...allowed, 'states:SendTaskSuccess': 'unsure' })
  })
})

describe('checkAccess', () => {
  it.each([
    ['asks for the counts of Map Runs where the definition has a distributed Map', DISTRIBUTED, true],
    ['or may have one', undefined, true],
    ['and not where each Map is in the history', DISTRIBUTED.replace('DISTRIBUTED', 'INLINE'), false],
  ])('%s', async (_name, definition, asked) => {
    const clients = scriptedClients({
      DescribeStateMachine: { definition },
      GetExecutionHistory: awsError('ExecutionDoesNotExist'),
      DescribeMapRun: awsError('AccessDeniedException', '', 400),
    })
    const reports = await checkAccess(clients, MACHINE, ['progress', 'map_runs'], context)
    expect(reports.map(({ action, access }) => [action, access])).toEqual([
      ['states:GetExecutionHistory', 'allowed'],
      ...(asked ? [['states:DescribeMapRun', 'missing']] : []),
    ])
  })
  it('is unsure, and says why, when AWS answers something else', async () => {
    const clients = scriptedClients({
      DescribeExecution: awsError('ThrottlingException'),
      DescribeStateMachine: {},
    })
    const reports = await checkAccess(clients, MACHINE, ['follow'], context)
    expect(reports.map(({ access }) => access)).toEqual(['allowed', 'unsure'])
    expect(reports[1]?.note).toMatch(/limits states:DescribeExecution/)
  })
  it('throws for a state machine elsewhere', async () => {
    const clients = { ...scriptedClients({}), region: 'eu-west-1' }
    await expect(checkAccess(clients, MACHINE, ['follow'], context)).rejects.toMatchObject({
      code: 'misconfigured',
    })
  })
})
