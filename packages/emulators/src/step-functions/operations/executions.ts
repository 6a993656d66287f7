import { checkedArn, executionArn, expressArn, qualified } from '../arns.js'
import {
  apiError,
  executionAlreadyExists,
  executionDoesNotExist,
  invalidArn,
  typeNotSupported,
  validation,
} from '../errors.js'
import { startExecution as beginExecution, type Execution } from '../execution.js'
import { failureDetails, wireEvent } from '../history.js'
import {
  checkLength,
  checkName,
  executionInput,
  maxCauseLength,
  maxErrorLength,
  pageSize,
} from '../limits.js'
import { page, pageStart, pageToken } from '../page-token.js'
import type { EmulatorState } from '../state.js'
import { machineOf, type StartTarget, startTarget } from '../state-machines.js'
import { type Operation, type Request, seconds } from './operation.js'

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html */
export const startExecution: Operation = (state, request) => {
  const target = startTarget(state, checkedArn(request.stateMachineArn))
  const input = executionInput(request.input)
  const name = executionName(state, request)
  if (target.machine.type === 'EXPRESS') return started(beginExpress(state, target, name, input))
  const arn = executionArn(state.place, target.machine.name, name)
  const existing = state.executions.get(arn)
  if (!existing) {
    const execution = beginExecution(state, { arn, name, target, input })
    state.executions.set(arn, execution)
    return started(execution)
  }
  if (existing.status !== 'RUNNING' || existing.input !== input) throw executionAlreadyExists(arn)
  return started(existing)
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartSyncExecution.html */
export const startSyncExecution: Operation = async (state, request) => {
  const target = startTarget(state, checkedArn(request.stateMachineArn))
  if (target.machine.type !== 'EXPRESS') throw typeNotSupported()
  const execution = beginExpress(state, target, executionName(state, request), executionInput(request.input))
  const { status, output, ...failure } = await execution.ended()
  const took = (execution.stoppedAt ?? execution.startedAt) - execution.startedAt
  return {
    executionArn: execution.arn,
    stateMachineArn: target.machine.arn,
    name: execution.name,
    startDate: seconds(execution.startedAt),
    stopDate: seconds(execution.stoppedAt ?? state.now()),
    status,
    ...failureDetails(failure),
    input: execution.input,
    inputDetails: included,
    ...(output !== undefined && { output, outputDetails: included }),
    billingDetails: { billedDurationInMilliseconds: Math.ceil(took / 100) * 100, billedMemoryUsedInMB: 64 },
  }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeExecution.html */
export const describeExecution: Operation = (state, request) => {
  const execution = standardExecution(state, request.executionArn)
  const data = request.includedData !== 'METADATA_ONLY'
  const { ending, input } = execution
  return {
    ...summary(execution),
    input: data ? input : undefined,
    inputDetails: { included: data },
    ...(ending?.output !== undefined && {
      output: data ? ending.output : undefined,
      outputDetails: { included: data },
    }),
    ...(ending && failureDetails(ending)),
    ...redrivability(execution),
  }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_StopExecution.html */
export const stopExecution: Operation = (state, request) => {
  const execution = standardExecution(state, request.executionArn)
  const error = checkLength('error', request.error, maxErrorLength)
  const cause = checkLength('cause', request.cause, maxCauseLength)
  return { stopDate: seconds(execution.stop({ error, cause })) }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_RedriveExecution.html */
export const redriveExecution: Operation = (state, request) => {
  const execution = standardExecution(state, request.executionArn)
  const { redriveStatus, redriveStatusReason } = redrivability(execution)
  if (redriveStatus !== 'REDRIVABLE') throw apiError('ExecutionNotRedrivable', redriveStatusReason ?? '')
  return { redriveDate: seconds(execution.redrive()) }
}

/** There are no distributed Maps here, so there are no Map Runs. https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeMapRun.html */
export const describeMapRun: Operation = (_state, request) => {
  throw apiError('ResourceNotFound', `Map Run Does Not Exist: '${checkedArn(request.mapRunArn)}'`)
}

const statuses = ['SUCCEEDED', 'TIMED_OUT', 'PENDING_REDRIVE', 'ABORTED', 'FAILED', 'RUNNING']

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_ListExecutions.html */
export const listExecutions: Operation = (state, request) => {
  const arn = checkedArn(request.stateMachineArn)
  const machine = machineOf(state, arn)
  if (machine.type === 'EXPRESS') throw typeNotSupported()
  const { statusFilter: status } = request
  if (status !== undefined && !statuses.includes(String(status))) {
    throw validation('statusFilter', status, `satisfy enum value set: [${statuses.join(', ')}]`)
  }
  const size = pageSize(request.maxResults, 100)
  const listed = [...state.executions.values()].filter(
    (execution) =>
      execution.target.machine === machine &&
      (qualified(arn).qualifier === undefined ||
        execution.target.versionArn === arn ||
        execution.target.aliasArn === arn) &&
      (status === undefined || execution.status === status),
  )
  const newestFirst = listed.reverse().sort((a, b) => b.startedAt - a.startedAt)
  const { items, nextToken } = page(`${arn} ${status ?? ''}`, newestFirst, size, request.nextToken)
  return { executions: items.map(summary), nextToken }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_GetExecutionHistory.html */
export const getExecutionHistory: Operation = (state, request) => {
  const { arn, history } = standardExecution(state, request.executionArn)
  const size = pageSize(request.maxResults, 100)
  const { ids, nextToken } = historyPage(arn, history.events.length, size, request)
  const data = request.includeExecutionData !== false
  return { events: ids.map((id) => wireEvent(history.events[id - 1] as never, data)), nextToken }
}

/** Pages hold on to event ids: a history that grows while it is read newest first repeats and skips nothing. */
function historyPage(arn: string, length: number, size: number, { reverseOrder, nextToken }: Request) {
  const list = `${arn} ${reverseOrder === true ? 'newest' : 'oldest'}`
  const step = reverseOrder === true ? -1 : 1
  const first = pageStart(list, nextToken) || (step === 1 ? 1 : length)
  const ids: number[] = []
  for (let id = first; id >= 1 && id <= length && ids.length < size; id += step) ids.push(id)
  const after = first + step * ids.length
  return after >= 1 && after <= length
    ? { ids, nextToken: pageToken(list, after) }
    : { ids, nextToken: undefined }
}

function executionName(state: EmulatorState, { name }: Request): string {
  if (name === undefined || name === null) return state.newId()
  checkName(name)
  return name
}

function beginExpress(state: EmulatorState, target: StartTarget, name: string, input: string): Execution {
  const arn = expressArn(state.place, target.machine.name, name, state.newId())
  const execution = beginExecution(state, { arn, name, target, input })
  state.executions.set(arn, execution)
  return execution
}

const started = ({ arn, startedAt }: Execution) => ({ executionArn: arn, startDate: seconds(startedAt) })
const included = { included: true }

/** The API shows executions of STANDARD machines only. */
function standardExecution(state: EmulatorState, value: unknown): Execution {
  const arn = checkedArn(value)
  const resourceType = arn.split(':')[5]
  if (resourceType !== 'execution')
    throw invalidArn(`Resource type not valid in this context: ${resourceType}`)
  const execution = state.executions.get(arn)
  if (!execution) throw executionDoesNotExist(arn)
  return execution
}

function summary({ arn, name, target, status, startedAt, stoppedAt, redriveCount, redrivenAt }: Execution) {
  return {
    executionArn: arn,
    stateMachineArn: target.machine.arn,
    stateMachineVersionArn: target.versionArn,
    stateMachineAliasArn: target.aliasArn,
    name,
    status,
    startDate: seconds(startedAt),
    ...(stoppedAt !== undefined && { stopDate: seconds(stoppedAt) }),
    redriveCount,
    ...(redrivenAt !== undefined && { redriveDate: seconds(redrivenAt) }),
  }
}

function redrivability({ status }: Execution): { redriveStatus: string; redriveStatusReason?: string } {
  if (status !== 'RUNNING' && status !== 'SUCCEEDED') return { redriveStatus: 'REDRIVABLE' }
  return {
    redriveStatus: 'NOT_REDRIVABLE',
    redriveStatusReason: `Execution is ${status} and cannot be redriven`,
  }
}
