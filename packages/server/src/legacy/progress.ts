import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { duration, statusMessage, type Task } from '@runbridge/core'
import type { App } from '../app.js'
import type { OlderForm } from './older-form.js'

export type ProgressToken = string | number

/**
 * The progress notifications of one task: the seconds since its creation, which go on after a restart, and always
 * more than the last (2025-11-25 basic/utilities/progress).
 */
export function taskProgress(app: App, progressToken: ProgressToken, relatedTask: OlderForm['relatedTask']) {
  let last = 0
  return (task: Task, canBeAsked: boolean): JSONRPCMessage => {
    const elapsedMs = app.clock.now() - task.record.createdAt
    last = Math.max(elapsedMs / 1000, last + 0.001)
    return {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: {
        progressToken,
        progress: last,
        message: `${duration(elapsedMs)}: ${statusMessage(task, { canBeAsked })}`,
        _meta: relatedTask(task.record.taskId),
      },
    }
  }
}

export function progressTokenOf(meta: unknown): ProgressToken | undefined {
  const token = (meta as { readonly progressToken?: unknown } | undefined)?.progressToken
  return typeof token === 'string' || typeof token === 'number' ? token : undefined
}
