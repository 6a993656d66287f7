import { randomUUID } from 'node:crypto'
import {
  DescribeExecutionCommand,
  DescribeMapRunCommand,
  GetExecutionHistoryCommand,
  ListStateMachinesCommand,
  SendTaskFailureCommand,
  SendTaskSuccessCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { type CallContext, RunbridgeError } from '@runbridge/core'
import { executionArn, mapRunArn, type StateMachineName } from './arn.js'
import type { StepFunctionsClients } from './clients.js'
import { bound, describeStateMachine } from './engine.js'
import { engineError, errorName } from './errors.js'
import { type Feature, type Grant, permissionsFor } from './permissions.js'

/** `unsure`: AWS can't be asked without an effect, or answered something else; `note` says what. */
export interface AccessReport extends Grant {
  readonly access: 'allowed' | 'missing' | 'unsure'
  readonly note?: string
}

interface Probed {
  readonly clients: StepFunctionsClients
  readonly machine: StateMachineName
  /** Names no execution: what asks about it can do nothing to any. */
  readonly nowhere: string
  readonly context: CallContext
}

interface Probe {
  send(probed: Probed): Promise<unknown>
  /** The error that only an allowed call gets; without it success is what an allowed call gets. */
  readonly allowedBy?: string
  /** What a denial does not prove. */
  readonly doubt?: string
}

const NO_TOKEN = 'runbridge-check'
const TOKEN_DOUBT =
  'denied for a token of no state machine; a policy that names only the state machine can still allow it for real ones'

/** Calls that can have no effect whatever AWS answers. A start has one, so there is no probe for it. */
const PROBES: Readonly<Record<string, Probe>> = {
  'states:DescribeStateMachine': {
    send: ({ clients, machine, context }) => describeStateMachine(clients.reads, machine, context),
  },
  'states:DescribeExecution': {
    send: ({ clients, nowhere, context }) =>
      clients.reads.send(new DescribeExecutionCommand({ executionArn: nowhere }), options(context)),
    allowedBy: 'ExecutionDoesNotExist',
  },
  'states:GetExecutionHistory': {
    send: ({ clients, nowhere, context }) =>
      clients.reads.send(new GetExecutionHistoryCommand({ executionArn: nowhere }), options(context)),
    allowedBy: 'ExecutionDoesNotExist',
  },
  'states:DescribeMapRun': {
    send: ({ clients, machine, context }) =>
      clients.reads.send(
        new DescribeMapRunCommand({ mapRunArn: mapRunArn(machine, `runbridge-check:${randomUUID()}`) }),
        options(context),
      ),
    allowedBy: 'ResourceNotFound',
  },
  'states:StopExecution': {
    send: ({ clients, nowhere, context }) =>
      clients.writes.send(new StopExecutionCommand({ executionArn: nowhere }), options(context)),
    allowedBy: 'ExecutionDoesNotExist',
  },
  'states:SendTaskSuccess': {
    send: ({ clients, context }) =>
      clients.writes.send(
        new SendTaskSuccessCommand({ taskToken: NO_TOKEN, output: '{}' }),
        options(context),
      ),
    allowedBy: 'InvalidToken',
    doubt: TOKEN_DOUBT,
  },
  'states:SendTaskFailure': {
    send: ({ clients, context }) =>
      clients.writes.send(new SendTaskFailureCommand({ taskToken: NO_TOKEN }), options(context)),
    allowedBy: 'InvalidToken',
    doubt: TOKEN_DOUBT,
  },
  'states:ListStateMachines': {
    send: ({ clients, context }) =>
      clients.reads.send(new ListStateMachinesCommand({ maxResults: 1 }), options(context)),
  },
}

const options = ({ signal }: CallContext) => ({ abortSignal: signal })

/** Asks AWS which of the permissions that the features need are there, by calls that can have no effect. */
export async function checkAccess(
  clients: StepFunctionsClients,
  stateMachineArn: string,
  features: readonly Feature[],
  context: CallContext,
): Promise<AccessReport[]> {
  const machine = bound({ clients }, { id: stateMachineArn })
  if (machine instanceof RunbridgeError) throw machine
  const nowhere = executionArn(machine, `runbridge-check-${randomUUID()}`)
  const probed: Probed = { clients, machine, nowhere, context }
  const reports: AccessReport[] = []
  for (const grant of permissionsFor(features, stateMachineArn)) {
    reports.push({ ...grant, ...(await probe(grant, probed)) })
  }
  return reports
}

async function probe(grant: Grant, probed: Probed): Promise<Pick<AccessReport, 'access' | 'note'>> {
  const asked = Object.hasOwn(PROBES, grant.action) ? PROBES[grant.action] : undefined
  if (!asked) return { access: 'unsure', note: 'it can not be tried without starting something' }
  try {
    await asked.send(probed)
    return { access: 'allowed' }
  } catch (thrown) {
    if (asked.allowedBy !== undefined && errorName(thrown) === asked.allowedBy) return { access: 'allowed' }
    const error = engineError(thrown, grant)
    if (error.code !== 'denied') return { access: 'unsure', note: error.message }
    return asked.doubt === undefined
      ? { access: 'missing', note: error.message }
      : { access: 'unsure', note: asked.doubt }
  }
}
