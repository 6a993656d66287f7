import type { Json, Link, ReportedState, RunError, Snapshot } from '@runbridge/core'
import type { Place } from './arn.js'
import { type Ending, parseJson, runError, stopError } from './failure.js'
import { executionUrl } from './links.js'
import { nestedLinks } from './nested.js'

/** What DescribeExecution and StartSyncExecution tell alike. */
export interface Execution extends Ending {
  readonly executionArn: string | undefined
  readonly status: string | undefined
  readonly output?: string | undefined
  readonly outputDetails?: { readonly included?: boolean | undefined } | undefined
  readonly startDate?: Date | undefined
  readonly stopDate?: Date | undefined
}

export interface Told {
  readonly place: Place
  readonly state: ReportedState
  /** The failing state, where it is known. */
  readonly step?: string | undefined
  readonly progress?: Snapshot['progress'] | undefined
  /** The executions that this one started. */
  readonly nested?: readonly string[] | undefined
}

export function snapshotOf(execution: Execution, told: Told): Snapshot {
  const { place, state, step, progress, nested = [] } = told
  const error = errorOf(execution, state, step)
  return {
    state,
    nativeState: execution.status ?? '',
    gates: [],
    links: [...executionLinks(place, execution.executionArn), ...nestedLinks(nested)],
    ...(state === 'succeeded' && outputOf(execution)),
    ...(error && { error }),
    ...(progress && { progress }),
    ...(execution.startDate && { startedAt: execution.startDate.getTime() }),
    ...(execution.stopDate && { endedAt: execution.stopDate.getTime() }),
  }
}

function executionLinks(place: Place, arn: string | undefined): Link[] {
  const url = arn === undefined ? undefined : executionUrl(place, arn)
  return url === undefined ? [] : [{ title: 'Execution in the AWS console', url }]
}

function errorOf(execution: Execution, state: ReportedState, step: string | undefined): RunError | undefined {
  if (state === 'failed') return runError(execution, 'FAILED', step)
  if (state === 'cancelled') return stopError(execution)
  if (state !== 'timed_out') return undefined
  const error = runError(execution, 'States.Timeout', step)
  return error.message === '' ? { ...error, message: 'The execution timed out.' } : error
}

function outputOf({ output, outputDetails }: Execution): { output: Json } | { outputOmitted: string } {
  if (output !== undefined) {
    const parsed = parseJson(output)
    return { output: parsed === undefined ? output : parsed }
  }
  const why =
    outputDetails?.included === false ? 'AWS left it out of its answer' : 'AWS keeps no output for it'
  return {
    outputOmitted: `The execution succeeded and its output is not here: ${why}. Look at the execution in the AWS console.`,
  }
}
