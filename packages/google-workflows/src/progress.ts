import type { Snapshot } from '@runbridge/core'
import type { Execution } from './executions-api.js'
import { stepName } from './failure.js'
import { inProgress, type StepEntry } from './step-entries.js'

type Progress = NonNullable<Snapshot['progress']>

const MAX_NAMED = 3

/**
 * Where an active execution is: its current steps as Google names them, and how far a loop is where the step entries
 * tell (newest first). Undefined when nothing tells.
 */
export function progressOf(execution: Execution, entries: readonly StepEntry[] = []): Progress | undefined {
  const current = (execution.status?.currentSteps ?? []).map(stepName)
  const open = entries.filter(inProgress)
  const iteration = open.find((entry) => entry.stepEntryMetadata?.expectedIteration)
  const named = [...new Set(current.length > 0 ? current : open.slice(0, 1).map(stepName))]
  const more = named.length > MAX_NAMED ? ` and ${named.length - MAX_NAMED} more` : ''
  const message = `${named.slice(0, MAX_NAMED).join(', ')}${more}`
  if (iteration === undefined) return message === '' ? undefined : { message }
  const { progressNumber = 1, expectedIteration: total = 0 } = iteration.stepEntryMetadata ?? {}
  return {
    message: message === '' ? stepName(iteration) : message,
    done: Math.max(0, progressNumber - 1),
    total,
  }
}

/** Google holds an execution back only for this reason. */
export function queuedProgress(location: string): Progress {
  return { message: `in the backlog: the concurrency quota of ${location} is used up` }
}
