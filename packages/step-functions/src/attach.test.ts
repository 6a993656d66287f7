import { describe, expect, it } from 'vitest'
import { stepFunctions } from './backend.js'
import {
  awsError,
  context,
  EXECUTION,
  MACHINE,
  networkError,
  scriptedClients,
} from './testing/scripted-clients.js'

const running = { executionArn: EXECUTION, status: 'RUNNING', redriveCount: 0 }

async function attach(script: Parameters<typeof scriptedClients>[0], reference = EXECUTION, id = MACHINE) {
  const clients = scriptedClients(script)
  const result = await stepFunctions({ clients }).attach?.({ id }, reference, context)
  return { result, sent: clients.sent }
}

const refusal = (code: string, message: RegExp) => ({
  kind: 'refused',
  error: { code, message: expect.stringMatching(message) },
})

describe('attach', () => {
  it('takes an execution of the state machine in its present attempt, without waiting behind polls', async () => {
    const { result, sent } = await attach(
      { DescribeExecution: { ...running, redriveCount: 2 } },
      ` ${EXECUTION}\n`,
    )
    expect(result).toEqual({ kind: 'attached', run: { id: EXECUTION, attempt: 2 } })
    expect(sent).toMatchObject([{ client: 'writes', input: { executionArn: EXECUTION } }])
  })

  it('takes one that has ended, and one of an endpoint that knows no redrives', async () => {
    const { redriveCount: _, ...old } = { ...running, status: 'SUCCEEDED' }
    expect((await attach({ DescribeExecution: old })).result).toMatchObject({ run: { attempt: 0 } })
  })

  it.each([
    ['version', `${MACHINE}:7`, { stateMachineVersionArn: `${MACHINE}:7` }],
    [
      'alias',
      `${MACHINE}:PROD`,
      { stateMachineAliasArn: `${MACHINE}:PROD`, stateMachineVersionArn: `${MACHINE}:7` },
    ],
  ])('holds executions to the %s that the tool names', async (_, id, through) => {
    const answered = (more: object) => attach({ DescribeExecution: { ...running, ...more } }, EXECUTION, id)
    expect((await answered(through)).result).toMatchObject({ kind: 'attached' })
    const other = { stateMachineVersionArn: `${MACHINE}:8`, stateMachineAliasArn: `${MACHINE}:TEST` }
    for (const more of [{}, other]) {
      expect((await answered(more)).result).toMatchObject(refusal('invalid_input', /not started through/))
    }
  })

  it('takes executions of any version where the tool names none', async () => {
    const { result } = await attach({
      DescribeExecution: { ...running, stateMachineVersionArn: `${MACHINE}:8` },
    })
    expect(result).toMatchObject({ kind: 'attached' })
  })

  it.each([
    ['another state machine', EXECUTION.replace(':deploy:', ':refund:')],
    ['another account', EXECUTION.replace('123456789012', '210987654321')],
    ['another region', EXECUTION.replace('us-east-1', 'eu-west-1')],
    ['another partition', EXECUTION.replace('arn:aws:', 'arn:aws-cn:')],
  ])('refuses an execution of %s without asking about it', async (_, reference) => {
    const { result, sent } = await attach({}, reference)
    expect(result).toMatchObject(refusal('invalid_input', /no execution of .*stateMachine:deploy/))
    expect(sent).toEqual([])
  })

  it.each([
    ['', /is not the ARN of an execution/],
    ['rb-1', /is not the ARN of an execution/],
    [MACHINE, /is not the ARN of an execution/],
    [`${EXECUTION}/map:1`, /is not the ARN of an execution/],
    [EXECUTION.replace(':execution:', ':express:').concat(':uuid'), /Express execution/],
  ])('refuses %j, which names none', async (reference, message) => {
    const { result, sent } = await attach({}, reference)
    expect(result).toMatchObject(refusal('invalid_input', message))
    expect(sent).toEqual([])
  })

  it('says that there is none only where AWS shows the state machine', async () => {
    const gone = awsError('ExecutionDoesNotExist')
    const shown = await attach({ DescribeExecution: gone, DescribeStateMachine: {} })
    expect(shown.result).toMatchObject(refusal('invalid_input', /AWS knows no execution/))
    const hidden = await attach({
      DescribeExecution: gone,
      DescribeStateMachine: awsError('StateMachineDoesNotExist'),
    })
    expect(hidden.result).toMatchObject(refusal('workflow_not_found', /AWS does not show/))
  })

  it.each([
    [awsError('AccessDeniedException', '', 403), 'denied'],
    [awsError('ThrottlingException'), 'throttled'],
    [networkError('ECONNRESET'), 'unavailable'],
  ])('says why it could not look: %s', async (thrown, code) => {
    expect((await attach({ DescribeExecution: thrown })).result).toMatchObject({
      kind: 'refused',
      error: { code },
    })
  })
})
