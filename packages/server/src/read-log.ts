import { type LogPiece, RunbridgeError, type TaskKey } from '@runbridge/core'
import type { App } from './app.js'
import type { Tool } from './tool.js'
import { underAny } from './under-any.js'

/** In characters. */
export interface LogRange {
  readonly offset: number
  readonly limit: number
}

export const LOG_LIMITS = { default: 16_384, max: 65_536 } as const

/** How long an engine may take to give a piece of a log, in ms. */
const READ_MS = 20_000

/** Whether runs of this tool have a log to read. */
export function hasLog({ capabilities, backend }: Tool): boolean {
  return capabilities.log && backend.log !== undefined
}

export function someLog(app: Pick<App, 'tools'>): boolean {
  return [...app.tools.values()].some(({ tool }) => hasLog(tool))
}

/**
 * A piece of what the run of a task has printed so far. Throws `task_not_found` for an unknown and a foreign id
 * alike, `unsupported` for a task whose engine gives no log, and what the engine said.
 */
export async function readLog(
  app: App,
  key: TaskKey,
  range: LogRange,
  signal: AbortSignal,
): Promise<LogPiece> {
  const { record } = await app.service.get(key)
  const tool = app.tools.get(record.tool)?.tool
  const log = tool?.backend.log
  if (!tool || !hasLog(tool) || !log || tool.workflow.id !== record.workflow) {
    const message = `Task ${key.taskId} has no log that could be read here; its result says how it ended.`
    throw new RunbridgeError('unsupported', message)
  }
  const { owner, run } = record
  if (!run) return { text: '', complete: record.endedAt !== undefined }
  return underAny([signal, app.closing, app.clock.timeout(READ_MS)], (within) =>
    log.call(tool.backend, tool.workflow, run, range, { signal: within, owner }),
  )
}
