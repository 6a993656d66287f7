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
import { type CallContext, isJsonObject, type Json, RunbridgeError } from '@runbridge/core'
import { executionArn, mapRunArn, type StateMachineName } from './arn.js'
import type { StepFunctionsClients } from './clients.js'
import { bound, describeStateMachine } from './engine.js'
import { engineError, errorName } from './errors.js'
import { parseJson } from './failure.js'
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

/**
 * Asks AWS which of the permissions that the features need are there, by calls that can have no effect. `map_runs` needs
 * none where the definition has no distributed Map. Throws a RunbridgeError where there is nothing to ask with: a role
 * that can't be assumed.
 */
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
  const needed = mayCount(await described(probed)) ? features : without(features, 'map_runs')
  for (const grant of permissionsFor(needed, stateMachineArn)) {
    reports.push({ ...grant, ...(await probe(grant, probed)) })
  }
  return reports
}

/** Undefined where AWS does not tell. Throws what clients throw of their own accord: that credentials could not be had. */
function described({ clients, machine, context }: Probed) {
  return describeStateMachine(clients.reads, machine, context).catch((thrown: unknown) => {
    if (thrown instanceof RunbridgeError) throw thrown
    return undefined
  })
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

const without = (features: readonly Feature[], one: Feature) => features.filter((feature) => feature !== one)

/** Whether the definition has a distributed Map, or can't be read: other Maps are counted by the history. */
function mayCount(machine: { readonly definition?: string | undefined } | undefined): boolean {
  const definition = machine?.definition === undefined ? undefined : parseJson(machine.definition)
  return definition === undefined || hasDistributedMap(definition)
}

/** At any level: branches and item processors have states of their own. */
function hasDistributedMap(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasDistributedMap)
  if (!isJsonObject(value)) return false
  const { Type: type, ItemProcessor: processor } = value
  const config = isJsonObject(processor) ? processor.ProcessorConfig : undefined
  const distributed = type === 'Map' && isJsonObject(config) && config.Mode === 'DISTRIBUTED'
  return distributed || Object.values(value).some(hasDistributedMap)
}
