import { setTimeout as delay } from 'node:timers/promises'
import type { BackendHarness, EngineCall, EngineFault } from '@runbridge/core/testing'
import {
  type Fault,
  type FaultTarget,
  type GoogleWorkflowsEmulator,
  type SimulatedWorkflow,
  startGoogleWorkflowsEmulator,
} from '@runbridge/emulators/google'
import { googleWorkflows } from '../backend.js'
import type { GoogleWorkflowsClients } from '../clients.js'
import type { GateConfig, GoogleWorkflow } from '../workflow.js'

const OPERATIONS: Record<EngineCall, readonly FaultTarget[]> = {
  start: ['CreateExecution'],
  read: ['GetExecution', 'ListExecutions', 'GetWorkflow', 'ListCallbacks', 'ListStepEntries'],
  cancel: ['CancelExecution'],
  answer: ['SendCallback'],
  call: [],
}

const FAULTS: Record<EngineFault, Fault> = {
  lost_after: { kind: 'dropAfterExecuting' },
  lost_before: { kind: 'dropBeforeExecuting' },
  throttled: { kind: 'error', status: 'RESOURCE_EXHAUSTED' },
  denied: { kind: 'denied' },
  expired: { kind: 'error', status: 'UNAUTHENTICATED' },
  down: { kind: 'status', status: 503 },
}

/** Waits for a person at `main.approve` and returns what the answer holds. */
const WAITS: SimulatedWorkflow = {
  steps: [
    { step: 'create', createCallback: 'callback_details' },
    { step: 'approve', awaitCallback: 'callback_details', result: 'callback_request' },
    { step: 'done', return: '$callback_request.http_request.body' },
  ],
}

const WORKFLOWS: Record<string, SimulatedWorkflow> = {
  echoes: { steps: [{ step: 'echo', return: '$input' }] },
  fails: { steps: [{ step: 'break', raise: { message: 'It broke.', code: 'Boom' } }] },
  endless: { steps: [{ step: 'sleep', ms: 86_400_000 }] },
  waits: WAITS,
}

export const APPROVAL: GateConfig = {
  urlVariable: 'callback_details.url',
  result: 'callback_request',
  prompt: 'Go on?',
  decline: { declined: true },
}

/** The suite's workflows on one emulator, which tests share. */
export function startEngine(): Promise<GoogleWorkflowsEmulator> {
  return startGoogleWorkflowsEmulator({ workflows: WORKFLOWS })
}

/**
 * What one test of the suite sees of the emulator.
 * @param gated how the workflow that waits is bound: with a detailed history, or without any
 */
export function engineOn(
  emulator: GoogleWorkflowsEmulator,
  clients: GoogleWorkflowsClients,
  gated: Pick<GoogleWorkflow, 'gates' | 'historyLevel'>,
): BackendHarness<GoogleWorkflow> {
  const before = emulator.executions().length
  const secrets = new Set<string>()
  const workflow = (name: string): GoogleWorkflow => ({ id: emulator.workflowName(name) })
  return {
    instance: () => googleWorkflows({ clients }),
    workflows: {
      echoes: workflow('echoes'),
      fails: workflow('fails'),
      endless: workflow('endless'),
      waits: { ...workflow('waits'), ...gated },
      missing: workflow('missing'),
    },
    inputs: [
      { order: 17, note: 'ünïcode' },
      { order: 18, note: '' },
    ],
    failure: { code: 'Boom', step: 'main.break' },
    answers: [{ approve: true }, { approve: false }],
    advance: () => delay(3),
    executions: () => emulator.executions().length - before,
    fault(on, fault) {
      for (const operation of OPERATIONS[on]) emulator.faults.always(operation, FAULTS[fault])
    },
    restore: () => emulator.faults.clear(),
    forget: (run) => emulator.faults.forget(run.id),
    secrets() {
      for (const { url, id } of emulator.callbacks()) secrets.add(url).add(id)
      return [...secrets]
    },
    close: () => emulator.faults.clear(),
  }
}
