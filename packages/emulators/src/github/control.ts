import * as z from 'zod'
import { commonControl, controlPrefix, goTogether, setFaults } from '../common/control.js'
import type { CallLog } from './calls.js'
import { type FaultScript, type FaultTarget, faultSchema, isFaultTarget } from './faults.js'
import { lastAttempt } from './run.js'
import type { EmulatorState } from './state.js'
import { viewOf } from './timeline.js'

const target = z.custom<FaultTarget>((name) => typeof name === 'string' && isFaultTarget(name), {
  error: 'not an operation that is served, nor *',
})

const faultRequest = z
  .strictObject({
    operation: target.optional(),
    next: z.array(faultSchema).optional(),
    always: faultSchema.optional(),
    clear: z.union([z.literal(true), target]).optional(),
  })
  .refine(goTogether, { error: 'operation goes with next, always or both' })

/** A run as the emulator itself knows it, hidden ones too. Times in epoch milliseconds. */
export interface RunReport {
  readonly id: number
  readonly repository: string
  readonly workflow: string
  readonly event: string
  readonly ref: string
  readonly title: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly attempt: number
  readonly status: string
  readonly conclusion: string | null
  readonly startedAt: number
}

export function runReports({ repositories, now }: EmulatorState): RunReport[] {
  return repositories
    .flatMap(({ runs }) => [...runs.values()])
    .map((run) => {
      const { id, repository, workflow, event, ref, title, inputs } = run
      const { status, conclusion } = viewOf(run, now())
      const { number: attempt, startedAt } = lastAttempt(run)
      return {
        id,
        repository: `${repository.owner}/${repository.name}`,
        workflow: workflow.fileName,
        event,
        ref,
        title,
        inputs,
        attempt,
        status,
        conclusion,
        startedAt,
      }
    })
}

/** Answers a control request: its status and JSON. */
export function control(
  { state, faults, calls }: { state: EmulatorState; faults: FaultScript; calls: CallLog },
  method: string,
  path: string,
  body: string,
): [number, unknown] {
  switch (`${method} ${path.slice(controlPrefix.length)}`) {
    case 'GET runs':
      return [200, runReports(state)]
    case 'POST faults':
      return setFaults(faultRequest, faults, body)
    default:
      return commonControl({ calls, faults }, method, path)
  }
}
