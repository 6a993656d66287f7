import { duration, quoted, statusMessage, type Task } from '@runbridge/core'
import { type Caller, canBeAsked } from './caller.js'
import type { Tool } from './tool.js'

/** What a caller without tasks is told of a run that goes on: its state, its id, and how to go on. */
export function handleText(task: Task, tool: Tool | undefined, caller: Caller): string {
  const { taskId, retainMs } = task.record
  const status = statusMessage(task, { canBeAsked: canBeAsked(tool, caller) })
  const lines = [
    `Task ${taskId}: ${status}`,
    `This is not the result yet. Call task_status with ${JSON.stringify({ taskId, waitSeconds: 45 })} to wait for it, or task_cancel to stop the run. The run goes on whether or not anybody waits; its result is kept for ${duration(retainMs)} after its end. Do not start it again.`,
  ]
  if (tool?.humanInput === 'model') {
    for (const { key, gate } of task.questions) {
      lines.push(
        `Open question ${JSON.stringify(key)}: ${quoted(gate.prompt, 2000)} Answer it with task_answer; the content must fit ${JSON.stringify(gate.schema)}.`,
      )
    }
  }
  return lines.join('\n')
}
