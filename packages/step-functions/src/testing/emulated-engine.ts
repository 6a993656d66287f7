import { setTimeout as delay } from 'node:timers/promises'
import { RedriveExecutionCommand, SFNClient } from '@aws-sdk/client-sfn'
import type { BackendHarness, EngineCall, EngineFault } from '@runbridge/core/testing'
import {
  type Fault,
  type FaultTarget,
  type StepFunctionsEmulator,
  startStepFunctionsEmulator,
} from '@runbridge/emulators/step-functions'
import { stepFunctions } from '../backend.js'
import { createStepFunctionsClients } from '../clients.js'
import type { StepFunctionsWorkflow } from '../workflow.js'

const OPERATIONS: Record<EngineCall, readonly FaultTarget[]> = {
  start: ['StartExecution'],
  read: ['DescribeExecution', 'DescribeStateMachine', 'GetExecutionHistory'],
  cancel: ['StopExecution'],
  answer: ['SendTaskSuccess', 'SendTaskFailure'],
  call: ['StartSyncExecution'],
}

const FAULTS: Record<EngineFault, Fault> = {
  lost_after: { kind: 'dropAfterExecuting' },
  lost_before: { kind: 'dropBeforeExecuting' },
  throttled: { kind: 'error', type: 'ThrottlingException' },
  denied: { kind: 'denied' },
  expired: { kind: 'error', type: 'ExpiredTokenException' },
  down: { kind: 'status', status: 503 },
}

const DEFINITIONS = {
  echoes: { StartAt: 'Echo', States: { Echo: { Type: 'Pass', End: true } } },
  fails: { StartAt: 'Break', States: { Break: { Type: 'Fail', Error: 'Boom', Cause: 'It broke.' } } },
  endless: { StartAt: 'Sleep', States: { Sleep: { Type: 'Wait', Seconds: 86_400, End: true } } },
  waits: {
    StartAt: 'Approve',
    States: {
      Approve: {
        Type: 'Task',
        Resource: 'arn:aws:states:::sqs:sendMessage.waitForTaskToken',
        Parameters: {
          QueueUrl: 'https://sqs.us-east-1.amazonaws.com/000000000000/approvals',
          MessageBody: { 'TaskToken.$': '$$.Task.Token', question: 'Go on?' },
        },
        End: true,
      },
    },
  },
}

export const CREDENTIALS = { accessKeyId: 'any', secretAccessKey: 'any' }

/** The suite's workflows on one emulator, which tests share since it takes long to start. */
export function startEngine(type: 'STANDARD' | 'EXPRESS'): Promise<StepFunctionsEmulator> {
  const machines = Object.entries(DEFINITIONS).filter(([name]) => type === 'STANDARD' || name !== 'waits')
  return startStepFunctionsEmulator({
    stateMachines: Object.fromEntries(machines.map(([name, definition]) => [name, { definition, type }])),
  })
}

/**
 * The clients that the product makes, but for the reads: their rate limiter makes calls wait for seconds once it
 * has seen throttling.
 */
export function emulatedClients({ region, url: endpoint }: StepFunctionsEmulator) {
  const clients = createStepFunctionsClients({ region, endpoint, credentials: CREDENTIALS })
  const reads = new SFNClient({ region, endpoint, credentials: CREDENTIALS, maxAttempts: 1 })
  const close = () => {
    clients.close()
    reads.destroy()
  }
  return { ...clients, reads, close }
}

/** What one test of the suite sees of the emulator. */
export function engineOn(emulator: StepFunctionsEmulator): BackendHarness<StepFunctionsWorkflow> {
  const { region, url: endpoint } = emulator
  const before = emulator.executions().length
  const closing: (() => void)[] = []
  const secrets = new Set<string>()
  const workflow = (name: string): StepFunctionsWorkflow => ({ id: emulator.stateMachineArn(name) })
  return {
    instance() {
      const clients = emulatedClients(emulator)
      closing.push(clients.close)
      return stepFunctions({ clients })
    },
    workflows: {
      echoes: workflow('echoes'),
      fails: workflow('fails'),
      endless: workflow('endless'),
      waits: { ...workflow('waits'), gates: { Approve: { promptField: 'MessageBody.question' } } },
      missing: workflow('missing'),
    },
    inputs: [
      { order: 17, note: 'ünïcode' },
      { order: 18, note: '' },
    ],
    failure: { code: 'Boom', step: 'Break' },
    answers: [{ approve: true }, { approve: false }],
    advance: () => delay(3),
    executions: () => emulator.executions().length - before,
    fault(on, fault) {
      for (const operation of OPERATIONS[on]) emulator.faults.always(operation, FAULTS[fault])
    },
    restore: () => emulator.faults.clear(),
    forget: (run) => emulator.faults.forget(run.id),
    async retry(run) {
      const client = new SFNClient({ region, endpoint, credentials: CREDENTIALS })
      await client.send(new RedriveExecutionCommand({ executionArn: run.id }))
      client.destroy()
    },
    secrets() {
      for (const task of emulator.openTasks()) secrets.add(task.token)
      return [...secrets]
    },
    close() {
      emulator.faults.clear()
      for (const close of closing) close()
    },
  }
}
