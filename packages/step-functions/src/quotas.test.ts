import { expect, it } from 'vitest'
import { stepFunctions } from './backend.js'
import { mapRunQuota, QUOTAS, quotasIn } from './quotas.js'
import { scriptedClients } from './testing/scripted-clients.js'

const quota = (region: string, readsPerSecond?: number) =>
  stepFunctions({ clients: scriptedClients({}), readsPerSecond }).readQuota?.({
    id: `arn:aws:states:${region}:123456789012:stateMachine:deploy:PROD`,
  })

it('takes half of what the smaller of the two quotas of a look allows', () => {
  expect(quota('us-east-1')?.perSecond).toBe(7.5)
  expect(quota('eu-central-1')?.perSecond).toBe(5)
  expect(quota('eu-central-1', 2)?.perSecond).toBe(2)
})

it('is one for an account and region, whatever the state machine', () => {
  const other = stepFunctions({ clients: scriptedClients({}) }).readQuota?.({
    id: 'arn:aws:states:us-east-1:123456789012:stateMachine:refund',
  })
  expect(quota('us-east-1')?.name).toBe(other?.name)
  expect(quota('eu-west-1')?.name).not.toBe(other?.name)
})

it('knows the large regions', () => {
  for (const region of ['us-east-1', 'us-west-2', 'eu-west-1']) expect(quotasIn(region)).toBe(QUOTAS.large)
  for (const region of ['us-east-2', 'eu-north-1', 'us-gov-west-1'])
    expect(quotasIn(region)).toBe(QUOTAS.other)
})

it('has one of its own for Map Runs, half of what AWS allows, divided as the looks are', () => {
  const inRegion = (region: string, readsPerSecond?: number) =>
    mapRunQuota(`arn:aws:states:${region}:123456789012:stateMachine:deploy`, readsPerSecond)
  expect(inRegion('us-east-1').perSecond).toBe(0.5)
  expect(inRegion('us-east-1', 7.5 / 4).perSecond).toBe(0.125)
  expect(inRegion('us-east-1', 100).perSecond).toBe(0.5)
  expect(inRegion('eu-central-1').name).not.toBe(inRegion('us-east-1').name)
  expect(inRegion('us-east-1').name).not.toBe(quota('us-east-1')?.name)
})
