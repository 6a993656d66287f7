import {
  digest,
  duration,
  isTerminal,
  type JsonObject,
  type ResultOptions,
  statusMessage,
  type Task,
  type ToolResult,
  textResult,
  toolResult,
} from '@runbridge/core'
import { inputRequests } from '@runbridge/core/wire/ext-tasks'
import type { App } from './app.js'
import type { InputRequired, Round } from './ask.js'
import { type Caller, canBeAsked } from './caller.js'
import { handleText } from './handle-text.js'
import type { ResultOf } from './result-options.js'
import type { Tool } from './tool.js'
import { underAny } from './under-any.js'

/** A call that waits for a run: its task, and how to ask its caller in the middle of it. */
export interface Waiting {
  readonly task: Task
  /** Absent when the tool is not configured any more. */
  readonly tool: Tool | undefined
  readonly caller: Caller
  readonly round: Round
  /** The tool and the arguments of the call itself, which a retry repeats. */
  readonly called: { readonly name: string; readonly args: JsonObject }
  /** At most this long, in ms. */
  readonly waitMs: number
  /** Whether a question may be put to the caller; false after one was dismissed. Default true. */
  readonly mayAsk?: boolean
}

/**
 * Waits for a run and answers with its result; with its open question, if this caller can be asked; or, when
 * the time is up or the caller's token expires, with how to go on. A caller that leaves ends the waiting and nothing else.
 */
export async function follow(app: App, waiting: Waiting): Promise<ToolResult | InputRequired> {
  const { tool, caller, round, called, mayAsk = true } = waiting
  const task = await underAny([caller.signal, app.closing], (signal) => wait(app, waiting, signal))
  if (isTerminal(task.record.state)) return toolResult(task.record, plainOptions(app, task.record))
  // Nobody would see the question of a caller that is gone.
  if (mayAsk && !caller.signal.aborted && task.questions.length > 0 && canBeAsked(tool, caller)) {
    const requestState = await round.seal({
      kind: 'run',
      tool: called.name,
      call: digest(called.args),
      taskId: task.record.taskId,
      expiresAt: app.clock.now() + app.limits.questionMs,
    })
    return { resultType: 'input_required', inputRequests: inputRequests(task.questions), requestState }
  }
  return textResult(handleText(app, task, tool, caller))
}

/** Hosts without tasks drop parts they do not know, so links are text for them. */
export function plainOptions({ resultOptions }: App, result: ResultOf): ResultOptions {
  return { ...resultOptions(result), links: 'text' }
}

async function wait(app: App, { task, tool, caller, waitMs }: Waiting, signal: AbortSignal): Promise<Task> {
  const { clock, service, limits } = app
  const { owner, taskId } = task.record
  const audience = { canBeAsked: canBeAsked(tool, caller) }
  // Only what this caller can do something about ends the waiting.
  const answerable = audience.canBeAsked || tool?.humanInput === 'model'
  const over = (seen: Task) => isTerminal(seen.record.state) || (answerable && seen.questions.length > 0)
  const end = Math.min(clock.now() + (app.freezes ? 0 : waitMs), caller.expiresAt ?? Number.POSITIVE_INFINITY)
  let current = task
  while (!over(current)) {
    const left = end - clock.now()
    if (left <= 0 || signal.aborted) break
    const said = statusMessage(current, audience)
    const changed = (seen: Task) => caller.progress !== undefined && statusMessage(seen, audience) !== said
    current = await service.wait(
      { owner, taskId },
      {
        waitMs: caller.progress ? Math.min(left, limits.progressMs) : left,
        signal,
        until: (seen) => over(seen) || changed(seen),
      },
    )
    if (over(current) || signal.aborted) break
    const elapsed = duration(clock.now() - current.record.createdAt)
    await caller.progress?.(`${elapsed}: ${statusMessage(current, audience)}`)
  }
  return current
}
