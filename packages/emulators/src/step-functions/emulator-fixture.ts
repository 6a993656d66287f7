import { setTimeout as wait } from 'node:timers/promises'
import { GetExecutionHistoryCommand, type HistoryEvent, SFNClient } from '@aws-sdk/client-sfn'
import { onTestFinished } from 'vitest'
import {
  type StepFunctionsEmulator,
  type StepFunctionsEmulatorOptions,
  startStepFunctionsEmulator,
} from './emulator.js'

/** An emulator and an SDK client of it for one test. The client sends every call once. */
export async function emulated(
  options: StepFunctionsEmulatorOptions = {},
): Promise<{ emulator: StepFunctionsEmulator; client: SFNClient }> {
  const emulator = await startStepFunctionsEmulator(options)
  const client = sfnClient(emulator.url)
  onTestFinished(async () => {
    client.destroy()
    await emulator.close()
  })
  return { emulator, client }
}

export function sfnClient(endpoint: string): SFNClient {
  return new SFNClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    maxAttempts: 1,
    disableHostPrefix: true,
  })
}

export async function historyOf(client: SFNClient, executionArn: string): Promise<HistoryEvent[]> {
  const { events } = await client.send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1000 }))
  return events ?? []
}

/** The events as `id<previous type`, which is what their order is about. */
export const outline = (events: HistoryEvent[]) =>
  events.map(({ id, previousEventId, type }) => `${id}<${previousEventId} ${type}`)

/** The open tasks, once there are as many as expected. */
export async function openTasks(emulator: StepFunctionsEmulator, count: number) {
  for (;;) {
    const tasks = emulator.openTasks()
    if (tasks.length === count) return tasks
    await wait(2)
  }
}

export const pass = { StartAt: 'Pass', States: { Pass: { Type: 'Pass', End: true } } }

export const gate = {
  StartAt: 'Approve',
  States: {
    Approve: {
      Type: 'Task',
      Resource: 'arn:aws:states:::sqs:sendMessage.waitForTaskToken',
      Parameters: {
        QueueUrl: 'https://queue',
        MessageBody: { 'TaskToken.$': '$$.Task.Token', 'Message.$': "States.Format('deploy {}', $.version)" },
      },
      End: true,
    },
  },
}
