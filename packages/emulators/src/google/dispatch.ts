import { setTimeout as wait } from 'node:timers/promises'
import type { Faulty } from '../common/http.js'
import type { CallLog, StartCall, Surface } from './calls.js'
import { type ApiError, apiError, denied, isApiError } from './errors.js'
import type { Fault, FaultScript, Operation } from './faults.js'
import { type Request, SERVED } from './operations.js'
import type { Resource } from './resources.js'
import type { EmulatorState } from './state.js'

/** What goes back over the connection. */
export type Answer =
  | { readonly kind: 'resource'; readonly resource: Resource }
  | { readonly kind: 'error'; readonly error: ApiError }
  | Faulty

export interface Dispatcher {
  readonly state: EmulatorState
  readonly faults: FaultScript
  readonly calls: CallLog
  /** Aborted when the emulator closes. */
  readonly closing: AbortSignal
}

/** Answers one call: counts it, lets its fault act, executes it. */
export async function dispatch(
  dispatcher: Dispatcher,
  operation: Operation,
  surface: Surface,
  request: Request,
): Promise<Answer> {
  const { faults, calls, closing, state } = dispatcher
  const fault = faults.take(operation)
  const start = calls.record(operation, surface, request, fault?.kind)
  if (fault?.kind === 'delayMs') await wait(fault.ms, undefined, { signal: closing }).catch(() => undefined)
  if (closing.aborted) return { kind: 'reset' }
  const instead = fault && answerBefore(fault, operation, request)
  if (instead) return instead
  const answer = execute(state, operation, request, start)
  if (fault?.kind === 'dropAfterExecuting') return { kind: 'reset' }
  if (fault?.kind === 'hang') return { kind: 'nothing' }
  if (answer.kind !== 'resource') return answer
  if (fault?.kind === 'hide') state.hidden.set(String(answer.resource.name), fault.times)
  if (fault?.kind === 'report') return { kind: 'resource', resource: { ...answer.resource, ...fault.fields } }
  return answer
}

function answerBefore(fault: Fault, operation: Operation, request: Request): Answer | undefined {
  switch (fault.kind) {
    case 'error':
      return {
        kind: 'error',
        error: apiError(fault.status, fault.message ?? `${fault.status} by script`),
      }
    case 'denied':
      return { kind: 'error', error: denied(SERVED[operation].permission, resourceOf(request)) }
    case 'status':
      return { kind: 'status', status: fault.status }
    case 'dropBeforeExecuting':
      return { kind: 'reset' }
    case 'hang':
      return fault.afterExecuting ? undefined : { kind: 'nothing' }
    case 'dropAfterExecuting':
    case 'delayMs':
    case 'hide':
    case 'report':
    case 'none':
      return undefined
  }
}

function execute(
  state: EmulatorState,
  operation: Operation,
  request: Request,
  start: StartCall | undefined,
): Answer {
  try {
    const resource = SERVED[operation].run(state, request)
    if (start) start.outcome = String(resource.name)
    return { kind: 'resource', resource }
  } catch (thrown) {
    const error = isApiError(thrown)
      ? thrown
      : apiError('INTERNAL', String((thrown as Error)?.stack ?? thrown))
    if (start) start.outcome = error.status
    return { kind: 'error', error }
  }
}

function resourceOf({ name, parent }: Request): string {
  return String(name ?? parent ?? '')
}
