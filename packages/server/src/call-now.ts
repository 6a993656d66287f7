import { type Owner, RunbridgeError, type TaskRecord, type ToolResult, toolResult } from '@runbridge/core'
import type { App } from './app.js'
import type { Asked } from './ask.js'
import type { Caller } from './caller.js'
import { plainOptions } from './follow.js'
import type { Tool } from './tool.js'

/**
 * Runs a workflow that ends within one call. What a person agreed to before runs once, however often the answer is sent:
 * there is no task that a replay could find (2026-07-28 basic/patterns/mrtr: single use is for the server to enforce).
 */
export async function callNow(
  app: App,
  tool: Tool,
  { input, taskId, runKey }: Asked & { kind: 'go' },
  caller: Caller,
): Promise<ToolResult> {
  const { backend, workflow } = tool
  if (!backend.call)
    throw new RunbridgeError('unsupported', `${backend.name} can not call ${workflow.id} directly.`)
  const createdAt = app.clock.now()
  const used = taskId && runKey ? mark(app, tool, caller.owner, { taskId, runKey }) : undefined
  if (used && (await keep(app, used)) === 'exists') throw new RunbridgeError('conflict', usedBefore(tool))
  const result = await backend.call(workflow, input, { signal: caller.signal, owner: caller.owner })
  switch (result.kind) {
    case 'ended': {
      const { snapshot } = result
      const { state, endedAt = app.clock.now() } = snapshot
      app.audit({ action: 'call', owner: caller.owner, tool: tool.name, outcome: state })
      return toolResult({ state, snapshot, createdAt, endedAt }, plainOptions(app, { tool: tool.name }))
    }
    case 'refused':
      // It has not run, so the answer may be sent again.
      if (used) await app.store.delete(used)
      throw result.error
    case 'unknown':
      throw new RunbridgeError(
        'unknown_outcome',
        `${result.error.message} It may have run to its end; do not repeat it before you have looked at the engine.`,
        { cause: result.error },
      )
    default:
      return result satisfies never
  }
}

/** Where no record is kept an answer that is sent again runs again. */
async function keep({ store }: App, record: TaskRecord): Promise<'created' | 'exists'> {
  return store.lacks?.update === undefined ? store.create(record) : 'created'
}

/**
 * That an answer was used, as a record for as long as its state counts. It is nobody's task: no caller has this owner, and
 * it ended when it was made, so that nothing is looked for.
 */
function mark(
  { clock, limits }: App,
  { name, backend, workflow }: Tool,
  owner: Owner,
  ids: Pick<TaskRecord, 'taskId' | 'runKey'>,
): TaskRecord {
  const now = clock.now()
  return {
    ...ids,
    owner: JSON.stringify(['answered', owner]),
    version: 1,
    tool: name,
    backend: backend.name,
    workflow: workflow.id,
    form: 'plain',
    inputDigest: '',
    startDeadline: now,
    idKnown: true,
    state: 'lost',
    createdAt: now,
    updatedAt: now,
    endedAt: now,
    retainMs: limits.questionMs,
    inputs: [],
    refreshAfter: now,
  }
}

function usedBefore({ name }: Tool): string {
  return `Nothing was started: this answer has been used, and what became of ${name} was the answer to that call. Look at the engine if it was lost; call ${name} anew to be asked again.`
}
