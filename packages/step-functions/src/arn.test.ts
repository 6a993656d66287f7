import { describe, expect, it } from 'vitest'
import { describableArn, executionArn, isAlias, parseExecutionArn, parseStateMachineArn } from './arn.js'
import { executionUrl, stateMachineUrl } from './links.js'

const ARN = 'arn:aws:states:eu-west-1:123456789012:stateMachine:deploy'

describe('state machines', () => {
  it.each([
    [ARN, undefined, ARN],
    [`${ARN}:7`, '7', `${ARN}:7`],
    [`${ARN}:PROD`, 'PROD', ARN],
    [`${ARN}:v1.2-x`, 'v1.2-x', ARN],
  ])('%s', (arn, qualifier, describable) => {
    const machine = parseStateMachineArn(arn)
    expect(machine).toMatchObject({
      partition: 'aws',
      region: 'eu-west-1',
      account: '123456789012',
      name: 'deploy',
      unqualified: ARN,
    })
    expect(machine.qualifier).toBe(qualifier)
    expect(describableArn(machine)).toBe(describable)
    expect(executionArn(machine, 'rb-1')).toBe('arn:aws:states:eu-west-1:123456789012:execution:deploy:rb-1')
  })
  it.each([
    '',
    'deploy',
    'arn:aws:states:eu-west-1:123456789012:execution:deploy:rb-1',
    'arn:aws:states:eu-west-1:123456789012:express:deploy:rb-1:uuid',
    'arn:aws:lambda:eu-west-1:123456789012:function:deploy',
    'arn:aws:states:eu-west-1:123:stateMachine:deploy',
    `${ARN}/mapLabel`,
    `${ARN}:1:2`,
    `${ARN} `,
  ])('refuses %j', (arn) => {
    expect(() => parseStateMachineArn(arn)).toThrow(/not the ARN of a state machine/)
  })
  it('tells aliases from versions', () => {
    expect([undefined, '1', '10', 'PROD', '1a'].map(isAlias)).toEqual([false, false, false, true, true])
  })
})

it('executions', () => {
  const arn = 'arn:aws-cn:states:cn-north-1:123456789012:execution:deploy:rb-1'
  const parsed = { partition: 'aws-cn', region: 'cn-north-1', account: '123456789012' }
  expect(parseExecutionArn(arn)).toEqual({ ...parsed, stateMachine: 'deploy', name: 'rb-1' })
  for (const wrong of [ARN, `${arn}:x`, '', 'arn:aws:states:r:1:express:a:b:c']) {
    expect(parseExecutionArn(wrong)).toBeUndefined()
  }
})

describe('links', () => {
  const place = (partition: string, region: string) => ({ partition, region, account: '123456789012' })
  it.each([
    ['aws', 'eu-west-1', 'https://eu-west-1.console.aws.amazon.com'],
    ['aws-us-gov', 'us-gov-west-1', 'https://console.amazonaws-us-gov.com'],
    ['aws-cn', 'cn-north-1', 'https://console.amazonaws.cn'],
  ])('%s', (partition, region, host) => {
    expect(executionUrl(place(partition, region), 'arn:x')).toBe(
      `${host}/states/home?region=${region}#/v2/executions/details/arn:x`,
    )
    expect(stateMachineUrl(place(partition, region), 'arn:x')).toBe(
      `${host}/states/home?region=${region}#/statemachines/view/arn:x`,
    )
  })
  it('there is none for a partition whose console is not known', () => {
    expect(executionUrl(place('aws-iso', 'us-iso-east-1'), 'arn:x')).toBeUndefined()
  })
})
