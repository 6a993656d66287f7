import { RUN_STATES, type RunState, statusMessage, type Task, textResult } from '@runbridge/core'
import type { App } from './app.js'
import { type Caller, canBeAsked } from './caller.js'
import { type FollowUp, READ_ONLY } from './follow-up-tool.js'

const PAGE = 20
/** Pages of tasks that have expired are passed over, but not for ever. */
const MAX_PAGES = 20

/** Which word of `status` each state is found by. */
const WORDS = {
  starting: 'open',
  queued: 'open',
  running: 'open',
  waiting: 'open',
  succeeded: 'succeeded',
  failed: 'failed',
  timed_out: 'failed',
  cancelled: 'cancelled',
  lost: 'lost',
} as const satisfies Record<RunState, string>

/** The tasks of the caller, for a model that has lost an id. */
export const taskList: FollowUp = {
  name: 'task_list',
  title: 'List of tasks',
  description:
    'Lists your tasks, newest first, each with its id and state. Look here before you start something again whose task id you have lost.',
  inputSchema: {
    type: 'object',
    properties: {
      tool: { type: 'string', description: 'Only tasks of this tool.' },
      status: {
        enum: [...new Set(Object.values(WORDS))],
        description: 'Only these; open: everything that has not ended.',
      },
      since: {
        type: 'string',
        format: 'date-time',
        description: 'Only those created at or after this time.',
      },
      cursor: { type: 'string', description: 'To go on with a list, as given.' },
    },
    additionalProperties: false,
  },
  annotations: READ_ONLY,
  urgent: false,
  offered: ({ store }) => store.lacks?.list === undefined,
  async run(app, args, caller) {
    const { tool, status, since } = args
    const filter = {
      ...(tool !== undefined && { tool: String(tool) }),
      ...(status !== undefined && { states: RUN_STATES.filter((state) => WORDS[state] === status) }),
      ...(since !== undefined && { since: Date.parse(String(since)) }),
    }
    let cursor = args.cursor === undefined ? undefined : String(args.cursor)
    for (let page = 1; ; page += 1) {
      const { tasks, next } = await app.service.list(caller.owner, filter, {
        limit: PAGE,
        ...(cursor !== undefined && { cursor }),
      })
      cursor = next
      if (tasks.length === 0 && next !== undefined && page < MAX_PAGES) continue
      const lines = tasks.map((task) => line(app, task, caller))
      if (lines.length === 0) lines.push('There are no such tasks.')
      if (next !== undefined) {
        lines.push(`There are older ones. Call task_list with ${JSON.stringify({ ...args, cursor: next })}.`)
      }
      return textResult(lines.join('\n'))
    }
  },
}

function line(app: App, task: Task, caller: Caller): string {
  const { taskId, tool, createdAt } = task.record
  const status = statusMessage(task, { canBeAsked: canBeAsked(app.tools.get(tool)?.tool, caller) })
  return `Task ${taskId} (${tool}, created ${new Date(createdAt).toISOString()}): ${status}`
}
