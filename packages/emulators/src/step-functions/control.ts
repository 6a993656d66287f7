import { z } from 'zod'
import type { CallLog } from './calls.js'
import { type FaultScript, type FaultTarget, faultSchema, isFaultTarget } from './faults.js'
import type { EmulatorState } from './state.js'

/** The paths under which another process sets faults and reads what arrived. */
export const controlPrefix = '/_emulator/'

const target = z.custom<FaultTarget>((name) => typeof name === 'string' && isFaultTarget(name), {
  error: 'not an action that is served, nor *',
})

const faultRequest = z.union([
  z.strictObject({
    operation: target,
    next: z.array(faultSchema).optional(),
    always: faultSchema.optional(),
  }),
  z.strictObject({ clear: z.union([target, z.literal(true)]) }),
  z.strictObject({ hide: z.strictObject({ executionArn: z.string(), times: z.int().min(1) }) }),
  z.strictObject({ forget: z.string() }),
])

export interface Controlled {
  state: EmulatorState
  faults: FaultScript
  calls: CallLog
}

/** An execution as the emulator itself knows it: hidden ones and EXPRESS ones too. Times in epoch milliseconds. */
export interface ExecutionView {
  executionArn: string
  name: string
  stateMachineArn: string
  status: string
  input: string
  output: string | undefined
  error: string | undefined
  cause: string | undefined
  startedAt: number
  stoppedAt: number | undefined
  redriveCount: number
}

export function executionViews({ executions }: EmulatorState): ExecutionView[] {
  return [...executions.values()].map(
    ({ arn, name, target, status, input, ending, startedAt, stoppedAt, redriveCount }) => ({
      executionArn: arn,
      name,
      stateMachineArn: target.machine.arn,
      status,
      input,
      output: ending?.output,
      error: ending?.error,
      cause: ending?.cause,
      startedAt,
      stoppedAt,
      redriveCount,
    }),
  )
}

/** Answers a control request: its status and JSON. */
export function control(
  controlled: Controlled,
  method: string,
  path: string,
  body: string,
): [number, unknown] {
  const { state, faults, calls } = controlled
  switch (`${method} ${path.slice(controlPrefix.length)}`) {
    case 'GET calls':
      return [200, calls.report()]
    case 'DELETE calls':
      calls.reset()
      return [200, calls.report()]
    case 'GET executions':
      return [200, executionViews(state)]
    case 'GET tasks':
      return [200, state.tokens.openTasks()]
    case 'GET faults':
      return [200, faults.pending()]
    case 'POST faults':
      return setFaults(faults, body)
    default:
      return [404, { message: `No control route ${method} ${path}; see the package's README.` }]
  }
}

function setFaults(faults: FaultScript, body: string): [number, unknown] {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch (error) {
    return [400, { message: `The body is not JSON: ${(error as Error).message}` }]
  }
  const parsed = faultRequest.safeParse(json)
  if (!parsed.success) return [400, { message: z.prettifyError(parsed.error) }]
  const request = parsed.data
  if ('operation' in request) {
    faults.next(request.operation, ...(request.next ?? []))
    if (request.always) faults.always(request.operation, request.always)
  } else if ('clear' in request) {
    faults.clear(request.clear === true ? undefined : request.clear)
  } else if ('hide' in request) {
    faults.hide(request.hide.executionArn, request.hide.times)
  } else {
    faults.forget(request.forget)
  }
  return [200, faults.pending()]
}
