import * as z from 'zod'
import { commonControl, controlPrefix, goTogether, setFaults } from '../common/control.js'
import type { Dispatcher } from './dispatch.js'
import { type FaultTarget, faultSchema, isFaultTarget } from './faults.js'
import { executionResource, type Resource } from './resources.js'
import type { EmulatorState } from './state.js'

const target = z.custom<FaultTarget>((name) => typeof name === 'string' && isFaultTarget(name), {
  error: 'not a call that is served, nor *',
})

const faultRequest = z
  .strictObject({
    operation: target.optional(),
    next: z.array(faultSchema).optional(),
    always: faultSchema.optional(),
    clear: z.union([z.literal(true), target], { error: 'true, or a call that is served, or *' }).optional(),
    forget: z.string().optional(),
  })
  .refine(goTogether, { error: 'operation goes with next, always or both' })

/** A callback that steps wait on. Its URL is a secret of the run; only tests see it. */
export interface OpenCallback {
  readonly execution: string
  readonly id: string
  readonly url: string
  readonly waiters: number
}

export function openCallbacks({ executions, url }: EmulatorState): OpenCallback[] {
  return [...executions.values()].flatMap((execution) =>
    [...execution.callbacks.values()].map(({ id, waiters }) => ({
      execution: execution.name,
      id,
      url: `${url}/v1/${execution.name}/callbacks/${id}`,
      waiters,
    })),
  )
}

export function executionViews({ executions }: EmulatorState): Resource[] {
  return [...executions.values()].map((execution) => executionResource(execution, 'FULL'))
}

/** Answers a control request: its status and JSON. */
export function control(
  { state, faults, calls }: Dispatcher,
  method: string,
  path: string,
  body: string,
): [number, unknown] {
  switch (`${method} ${path.slice(controlPrefix.length)}`) {
    case 'GET executions':
      return [200, executionViews(state)]
    case 'GET callbacks':
      return [200, openCallbacks(state)]
    case 'POST faults':
      return setFaults(faultRequest, faults, body, ({ forget }) => {
        if (forget !== undefined) faults.forget(forget)
      })
    default:
      return commonControl({ calls, faults }, method, path)
  }
}
