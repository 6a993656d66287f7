import { setTimeout as wait } from 'node:timers/promises'
import type { Faulty } from '../common/http.js'
import type { CallLog, StartCall } from './calls.js'
import { accessDenied, apiError, executionDoesNotExist, isApiError } from './errors.js'
import type { Fault, FaultScript } from './faults.js'
import { isOperationName, type OperationName, operations } from './operations/index.js'
import type { Request } from './operations/operation.js'
import type { EmulatorState } from './state.js'

/** What goes back over the connection. */
export type Answer = { kind: 'json'; status: number; body: object } | Faulty

export interface Dispatcher {
  state: EmulatorState
  faults: FaultScript
  calls: CallLog
  /** Aborted when the emulator closes. */
  closing: AbortSignal
}

/** Answers one call of the API: counts it, lets its fault act, executes it. */
export async function dispatch(dispatcher: Dispatcher, action: string, request: Request): Promise<Answer> {
  if (!isOperationName(action)) {
    const message = `The action ${action} is not emulated; served are: ${Object.keys(operations).join(', ')}`
    return failed(apiError('UnknownOperationException', message))
  }
  const { faults, calls, closing, state } = dispatcher
  const fault = faults.take(action)
  const start = calls.record(action, request, fault?.kind)
  if (fault?.kind === 'delayMs') await wait(fault.ms, undefined, { signal: closing }).catch(() => {})
  if (closing.aborted) return { kind: 'reset' }
  const instead = fault && answerBefore(fault, action, request, state)
  if (instead) return instead
  const answer = await execute(dispatcher, action, request, start)
  if (fault?.kind === 'hide') hideStarted(answer, fault.times, faults)
  if (fault?.kind === 'dropAfterExecuting') return { kind: 'reset' }
  return fault?.kind === 'hang' ? { kind: 'nothing' } : answer
}

function answerBefore(
  fault: Fault,
  action: OperationName,
  request: Request,
  state: EmulatorState,
): Answer | undefined {
  switch (fault.kind) {
    case 'error':
      return failed(apiError(fault.type, fault.message ?? `${fault.type} by script`, fault.status))
    case 'denied':
      return failed(accessDenied(state.place.accountId, action, fault.resource ?? resourceOf(request)))
    case 'status':
      return { kind: 'status', status: fault.status }
    case 'dropBeforeExecuting':
      return { kind: 'reset' }
    case 'hang':
      return fault.afterExecuting ? undefined : { kind: 'nothing' }
    case 'hide':
      return action === 'StartExecution' ? undefined : failed(executionDoesNotExist(resourceOf(request)))
    case 'dropAfterExecuting':
    case 'delayMs':
    case 'none':
      return undefined
  }
}

async function execute(
  { state, faults }: Dispatcher,
  action: OperationName,
  request: Request,
  start: StartCall | undefined,
): Promise<Answer> {
  const before = state.executions.size
  try {
    if (faults.denies(request.executionArn)) throw executionDoesNotExist(resourceOf(request))
    const pending = operations[action](state, request)
    if (start) start.outcome = state.executions.size > before ? 'started' : 'same'
    const body = await pending
    return {
      kind: 'json',
      status: 200,
      body: action === 'ListExecutions' ? withoutHidden(body, faults) : body,
    }
  } catch (error) {
    const known = isApiError(error)
      ? error
      : apiError('InternalFailure', String((error as Error)?.stack ?? error), 500)
    if (start) start.outcome = known.type
    return failed(known)
  }
}

function failed({ type, message, status }: { type: string; message: string; status: number }): Answer {
  return { kind: 'json', status, body: { __type: type, message } }
}

function resourceOf({ executionArn, stateMachineArn, resourceArn }: Request): string {
  return String(executionArn ?? stateMachineArn ?? resourceArn ?? '*')
}

function hideStarted(answer: Answer, times: number, faults: FaultScript): void {
  const arn = answer.kind === 'json' && (answer.body as { executionArn?: string }).executionArn
  if (arn) faults.hide(arn, times)
}

function withoutHidden(body: object, faults: FaultScript): object {
  const { executions } = body as { executions: { executionArn: string }[] }
  return { ...body, executions: executions.filter(({ executionArn }) => !faults.hidden(executionArn)) }
}
