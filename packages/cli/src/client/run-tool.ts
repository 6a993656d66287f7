import {
  type TaskEnabledSession,
  type TaskOutcome,
  type TaskView,
  taskViewFromExecutionEvent,
} from '@modelcontextprotocol/ext-tasks/client'
import type { JsonObject } from '@runbridge/core'

/** What happens on the way to a result. */
export interface RunObserver {
  /** The call became a task. */
  readonly onTask?: (taskId: string) => void
  /** A status or a status message that differs from the last. */
  readonly onChange?: (view: TaskView) => void
}

/** How a call ended, in the words of the extension; a tool error is `completed` with `isError`. */
export interface RunEnd {
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly isError: boolean
  /** The text parts of the result, or why there is none. */
  readonly texts: readonly string[]
  readonly structured?: unknown
  readonly taskId?: string
}

/** Calls a tool and follows it to its end, whether it becomes a task or answers at once. */
export async function runTool(
  session: TaskEnabledSession,
  name: string,
  args: JsonObject,
  observer: RunObserver = {},
): Promise<RunEnd> {
  const execution = await session.callTool(name, args as Parameters<TaskEnabledSession['callTool']>[1])
  const taskId = execution.handle?.taskId
  if (taskId !== undefined) observer.onTask?.(taskId)
  let last = ''
  const { outcome } = await execution.settle({
    onEvent: (event) => {
      const view = taskViewFromExecutionEvent(event)
      const text = JSON.stringify([view?.status, view?.statusMessage])
      if (!view || text === last) return
      last = text
      observer.onChange?.(view)
    },
  })
  return { ...endOf(outcome), ...(taskId !== undefined && { taskId }) }
}

function endOf(outcome: TaskOutcome<unknown>): RunEnd {
  if (outcome.status === 'failed') return { status: 'failed', isError: true, texts: [outcome.error.message] }
  if (outcome.status === 'cancelled')
    return { status: 'cancelled', isError: true, texts: ['The run was cancelled.'] }
  return { status: 'completed', ...resultParts(outcome.result) }
}

/** The parts of a tool result (2026-07-28 schema, `CallToolResult`) that a terminal can show. */
export function resultParts(result: unknown): Pick<RunEnd, 'isError' | 'texts' | 'structured'> {
  const {
    content = [],
    structuredContent,
    isError,
  } = result as {
    content?: readonly { type: string; text?: string; uri?: string; name?: string }[]
    structuredContent?: unknown
    isError?: boolean
  }
  const texts = content.flatMap((part) => {
    if (part.type === 'text') return [part.text ?? '']
    return part.type === 'resource_link' ? [`${part.name}: ${part.uri}`] : []
  })
  return {
    isError: isError === true,
    texts,
    ...(structuredContent !== undefined && { structured: structuredContent }),
  }
}
