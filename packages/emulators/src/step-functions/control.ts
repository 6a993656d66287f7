import * as z from 'zod'
import { commonControl, controlPrefix, goTogether, setFaults } from '../common/control.js'
import type { CallLog } from './calls.js'
import { type FaultScript, type FaultTarget, faultSchema, isFaultTarget } from './faults.js'
import type { EmulatorState } from './state.js'

const target = z.custom<FaultTarget>((name) => typeof name === 'string' && isFaultTarget(name), {
  error: 'not an action that is served, nor *',
})

const faultRequest = z
  .strictObject({
    operation: target.optional(),
    next: z.array(faultSchema).optional(),
    always: faultSchema.optional(),
    clear: z
      .union([z.literal(true), target], { error: 'true, or an action that is served, or *' })
      .optional(),
    hide: z.strictObject({ executionArn: z.string(), times: z.int().min(1) }).optional(),
    forget: z.string().optional(),
  })
  .refine(goTogether, { error: 'operation goes with next, always or both' })

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
    case 'GET executions':
      return [200, executionViews(state)]
    case 'GET tasks':
      return [200, state.tokens.openTasks()]
    case 'POST faults':
      return setFaults(faultRequest, faults, body, ({ hide, forget }) => {
        if (hide) faults.hide(hide.executionArn, hide.times)
        if (forget !== undefined) faults.forget(forget)
      })
    default:
      return commonControl({ calls, faults }, method, path)
  }
}
