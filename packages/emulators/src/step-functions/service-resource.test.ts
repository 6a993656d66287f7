import { expect, it } from 'vitest'
import { serviceResource } from './service-resource.js'

it.each([
  [
    'arn:aws:states:::sqs:sendMessage.waitForTaskToken',
    'service',
    'sqs',
    'sendMessage.waitForTaskToken',
    true,
    false,
  ],
  ['arn:aws:states:::lambda:invoke', 'service', 'lambda', 'invoke', false, false],
  ['arn:aws:states:::aws-sdk:dynamodb:getItem', 'service', 'aws-sdk:dynamodb', 'getItem', false, false],
  [
    'arn:aws:states:::states:startExecution.sync:2',
    'service',
    'states',
    'startExecution.sync:2',
    false,
    true,
  ],
  ['arn:aws-cn:states:::ecs:runTask.sync', 'service', 'ecs', 'runTask.sync', false, true],
] as const)('%s', (arn, kind, resourceType, resource, callback, sync) => {
  expect(serviceResource(arn)).toEqual({ arn, kind, resourceType, resource, callback, sync })
})

it('tells functions and activities by their ARNs', () => {
  expect(serviceResource('arn:aws:lambda:us-east-1:111122223333:function:greet:live').kind).toBe('lambda')
  expect(serviceResource('arn:aws:states:us-east-1:111122223333:activity:greet').kind).toBe('activity')
})
