import { duration, quoted, statusMessage, type Task, type Unstoppable, unstoppable } from '@runbridge/core'
import type { App } from './app.js'
import { type Caller, canBeAsked } from './caller.js'
import type { Tool } from './tool.js'

/** What can be done about a run that must not go on. */
const STOPPING: Readonly<Record<Unstoppable | 'stoppable', string>> = {
  stoppable: 'Only if it must not go on, stop it with task_cancel.',
  watched: 'It was started elsewhere and is only watched here: task_cancel does not stop it.',
  unsupported: 'It can not be stopped.',
}

/** What a caller without tasks is told of a run that goes on: its state, its id, and how to go on. */
export function handleText(
  { freezes }: Pick<App, 'freezes'>,
  task: Task,
  tool: Tool | undefined,
  caller: Caller,
): string {
  const { taskId, retainMs, attached } = task.record
  const status = statusMessage(task, { canBeAsked: canBeAsked(tool, caller) })
  const ask = freezes
    ? `After ${duration(task.pollIntervalMs)} or later call task_status with ${JSON.stringify({ taskId })}, which looks without waiting.`
    : `Call task_status with ${JSON.stringify({ taskId, waitSeconds: 45 })} to wait for it.`
  const lines = [
    `Task ${taskId}: ${status}`,
    `This is not the result yet. ${ask} Do not ${attached ? 'ask to watch' : 'start'} it again: the run goes on whether or not anybody waits, and its result is kept for ${duration(retainMs)} after its end. ${STOPPING[unstoppable(tool, task.record) ?? 'stoppable']}`,
  ]
  if (task.questions.length === 0) return lines.join('\n')
  if (tool?.humanInput !== 'model') {
    if (!canBeAsked(tool, caller))
      lines.push('Tell your user who has to answer, and where; you can not answer it.')
    return lines.join('\n')
  }
  for (const { key, gate } of task.questions) {
    lines.push(
      `Open question ${JSON.stringify(key)}: ${quoted(gate.prompt, 2000)} First answer it: call task_answer with ${JSON.stringify({ taskId, key })}, an action (accept or decline) and, with accept, a content that fits ${JSON.stringify(gate.schema)}.`,
    )
  }
  return lines.join('\n')
}
