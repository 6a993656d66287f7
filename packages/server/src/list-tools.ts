import { duration, type JsonObject } from '@runbridge/core'
import type { App } from './app.js'
import type { Caller } from './caller.js'
import { FOLLOW_UPS } from './follow-up.js'
import type { Tool } from './tool.js'

/**
 * What this caller sees: decided by the capabilities of the request alone, always in the same order. Callers
 * without tasks get the tools by which they go on with a run, and no output schemas, since they may get a
 * task id instead of the result.
 */
export function listTools(app: App, caller: Pick<Caller, 'tasks'>): JsonObject[] {
  const tools = [...app.tools.values()].map(({ tool }) => describe(tool, caller))
  if (caller.tasks || [...app.tools.values()].every(({ tool }) => tool.taskSupport === 'forbidden'))
    return tools
  const offered = [...FOLLOW_UPS.values()].filter(({ offered }) => offered?.(app) ?? true)
  const followUps = offered.map(
    ({ name, title, description, inputSchema, annotations }): JsonObject => ({
      name,
      title,
      description,
      inputSchema,
      annotations: { ...annotations },
    }),
  )
  return [...tools, ...followUps]
}

function describe(tool: Tool, caller: Pick<Caller, 'tasks'>): JsonObject {
  const whole = caller.tasks || tool.taskSupport === 'forbidden'
  return {
    name: tool.name,
    ...(tool.title !== undefined && { title: tool.title }),
    description: [tool.description, ...promises(tool, caller)].join('\n'),
    inputSchema: tool.inputSchema,
    ...(tool.outputSchema && whole && { outputSchema: tool.outputSchema }),
    ...(tool.annotations && { annotations: { ...tool.annotations } }),
  }
}

/** What a caller should know of the runs before it starts one, where it is less than one would expect. */
function promises(tool: Tool, caller: Pick<Caller, 'tasks'>): string[] {
  const { attach } = tool
  const { start, cancel, execution } = tool.capabilities
  if (execution === 'call') return []
  return [
    !attach &&
      start === 'blind' &&
      'If the answer of a start is lost, whether it runs can not be told; check before repeating.',
    !attach && start === 'findable' && 'A start whose answer is lost is looked up, never repeated.',
    !cancel && attach?.cancel !== false && 'A run can not be stopped once it has started.',
    !caller.tasks &&
      tool.taskSupport === 'optional' &&
      `A run that takes longer than ${duration(tool.holdMs)} is answered with a task id: go on with task_status then, do not call this again. Results are kept for ${duration(tool.retainMs)}.`,
  ].filter((sentence) => sentence !== false)
}
