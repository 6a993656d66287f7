import { SendTaskSuccessCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import type { StepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startDemoEngine } from './engine.js'

let engine: StepFunctionsEmulator
let client: SFNClient
beforeAll(async () => {
  engine = await startDemoEngine(0)
  client = new SFNClient({
    endpoint: engine.url,
    region: engine.region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
})
afterAll(async () => {
  client.destroy()
  await engine.close()
})

async function start(machine: string, input: object): Promise<string> {
  const stateMachineArn = engine.stateMachineArn(machine)
  const { executionArn } = await client.send(
    new StartExecutionCommand({ stateMachineArn, input: JSON.stringify(input) }),
  )
  return executionArn ?? ''
}

it('the order goes through although the stock is busy twice', async () => {
  const arn = await start('OrderPipeline', { orderId: '1001' })
  expect(await engine.ended(arn)).toMatchObject({
    status: 'SUCCEEDED',
    output: '{"orderId":"1001","parcel":"P-1001","stockAttempts":3}',
  })
})

it('the deploy waits for its token and passes the answer on', async () => {
  const arn = await start('DeployWithApproval', { version: '1.2.3' })
  await expect.poll(() => engine.openTasks()).toHaveLength(1)
  const [open] = engine.openTasks()
  const output = JSON.stringify({ comment: 'go' })
  await client.send(new SendTaskSuccessCommand({ taskToken: open?.token, output }))
  expect(await engine.ended(arn)).toMatchObject({
    status: 'SUCCEEDED',
    output: '{"deployed":"1.2.3","approvalComment":"go"}',
  })
})

it('the batch fails at the file that is missing', async () => {
  const arn = await start('NightlyBatch', { month: '2026-06' })
  expect(await engine.ended(arn)).toMatchObject({ status: 'FAILED', error: 'FileMissing' })
})
