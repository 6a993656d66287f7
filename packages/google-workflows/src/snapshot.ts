import type { Json, Link, ReportedState, RunError, Snapshot } from '@runbridge/core'
import type { Execution } from './executions-api.js'
import { parseJson, runError } from './failure.js'
import { executionUrl } from './links.js'

export interface Told {
  /** The workflow's name as it is configured. */
  readonly workflow: string
  readonly state: ReportedState
  readonly progress?: Snapshot['progress'] | undefined
}

export function snapshotOf(execution: Execution, { workflow, state, progress }: Told): Snapshot {
  const { name, startTime, endTime } = execution
  const error = errorOf(execution, state)
  const startedAt = timeOf(startTime)
  const endedAt = timeOf(endTime)
  return {
    state,
    nativeState: String(execution.state ?? ''),
    gates: [],
    links: name ? [link(workflow, name)] : [],
    ...(state === 'succeeded' && outputOf(execution)),
    ...(error && { error }),
    ...(progress && { progress }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
  }
}

function link(workflow: string, name: string): Link {
  return { title: 'Execution in the Google Cloud console', url: executionUrl(workflow, name) }
}

/** Google keeps no reason of a cancel; where it says why, that is shown. */
function errorOf(execution: Execution, state: ReportedState): RunError | undefined {
  if (state === 'failed') return runError(execution)
  if (state !== 'cancelled' || !execution.error?.payload) return undefined
  const { code, message } = runError(execution)
  return { code: code === 'FAILED' ? 'CANCELLED' : code, message }
}

function outputOf({ result }: Execution): { output: Json } | { outputOmitted: string } {
  if (!result) {
    return {
      outputOmitted:
        'The execution succeeded and Google shows no result of it. Look at the execution in the Google Cloud console.',
    }
  }
  const parsed = parseJson(result)
  return { output: parsed === undefined ? result : parsed }
}

/** ms since the epoch. gRPC and REST give seconds as number, text or Long. */
function timeOf(time: Execution['startTime']): number | undefined {
  if (!time) return undefined
  return Number(time.seconds ?? 0) * 1000 + Math.round(Number(time.nanos ?? 0) / 1e6)
}
