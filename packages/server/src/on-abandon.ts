import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server'
import { isTerminal, type Task } from '@runbridge/core'
import type { App } from './app.js'
import type { Caller } from './caller.js'
import type { Tool } from './tool.js'

/**
 * Whether the client itself took the request back, by `notifications/cancelled`. The SDK aborts requests for lost
 * connections and ended sessions too, and those say nothing about what is wanted.
 */
export function isWithdrawn(signal: AbortSignal): boolean {
  const { aborted, reason } = signal
  return aborted && !(reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed)
}

/** Stops the run of a call that its client took back, if the tool says so. Else only the waiting has ended. */
export async function onAbandon(app: App, tool: Tool | undefined, caller: Caller, task: Task): Promise<void> {
  if (tool?.onAbandon !== 'cancel' || !caller.withdrawn() || isTerminal(task.record.state)) return
  const { owner, taskId } = task.record
  await app.service.cancel({ owner, taskId }, 'The client cancelled the call.')
}

/** What does not fit `onAbandon: cancel`, and what to write instead. */
export function abandonConflict({ onAbandon, capabilities, attach }: Tool): string | undefined {
  if (onAbandon !== 'cancel') return undefined
  if (capabilities.execution === 'call') {
    return '`onAbandon: cancel` needs a run that goes on after the call, and this workflow ends within it; leave it out.'
  }
  if (!capabilities.cancel) return '`onAbandon: cancel` needs runs that can be stopped; leave it out.'
  return attach && !attach.cancel
    ? '`onAbandon: cancel` would stop runs that were started elsewhere; leave it out, or allow it with `cancelAttached`.'
    : undefined
}
