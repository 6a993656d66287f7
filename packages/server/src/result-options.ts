import type { Log, ResultOptions, TaskRecord } from '@runbridge/core'
import type { ServedTool } from './app.js'

/** Of a task, or of a call that ended at once and has no run key. */
export type ResultOf = Pick<TaskRecord, 'tool'> & Partial<Pick<TaskRecord, 'taskId' | 'runKey' | 'run'>>

/** How many tasks are remembered as told of. */
const MAX_TOLD = 1_000

/**
 * How the results of each tool are shown, in every form. An output that does not fit what its tool declares is logged
 * once for a task in this process, however often its client asks for the result.
 */
export function resultOptions(
  tools: ReadonlyMap<string, ServedTool>,
  log: Log,
): (result: ResultOf) => ResultOptions {
  const told = new Set<string>()

  function firstTime(runKey: string | undefined): boolean {
    if (runKey === undefined) return true
    if (told.has(runKey)) return false
    told.add(runKey)
    const [oldest = ''] = told
    if (told.size > MAX_TOLD) told.delete(oldest)
    return true
  }

  return ({ tool: name, taskId, runKey, run }) => {
    const { tool, outputProblems } = tools.get(name) ?? {}
    return {
      resultText: tool?.resultText,
      outputSchema: outputProblems && {
        problems: outputProblems,
        onMisfit(reason) {
          if (!firstTime(runKey)) return
          const fields = {
            tool: name,
            reason,
            ...(taskId !== undefined && { taskId }),
            ...(run && { run: run.id }),
          }
          log.warn(fields, 'the output of a run does not fit the output schema of its tool')
        },
      },
    }
  }
}
