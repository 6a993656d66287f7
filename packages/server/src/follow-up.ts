import { errorResult, type JsonObject, RunbridgeError, statusMessage, textResult } from '@runbridge/core'
import { canBeAsked } from './caller.js'
import { follow } from './follow.js'
import { type FollowUp, READ_ONLY, TASK_ID as taskId } from './follow-up-tool.js'
import { handleText } from './handle-text.js'
import { compileSchema } from './json-schema.js'
import { lackedScopes, lacksScopes } from './scopes.js'
import { taskList } from './task-list.js'
import { taskLog } from './task-log.js'

/** Hosts give up on a call after a minute; a wait stays below. In s. */
const MAX_WAIT_S = 45

const status: FollowUp = {
  name: 'task_status',
  title: 'Status or result of a task',
  description:
    'Waits for a task whose id a call was answered with, and returns its result; while it goes on, its state, its open questions and the next call to make. Asking again is harmless.',
  inputSchema: {
    type: 'object',
    properties: {
      taskId,
      waitSeconds: {
        type: 'number',
        minimum: 0,
        maximum: MAX_WAIT_S,
        default: MAX_WAIT_S,
        description: 'How long to wait for the result at most; 0 looks without waiting.',
      },
    },
    required: ['taskId'],
    additionalProperties: false,
  },
  annotations: READ_ONLY,
  urgent: false,
  async run(app, args, caller, round) {
    const task = await app.service.get({ owner: caller.owner, taskId: String(args.taskId) })
    const tool = app.tools.get(task.record.tool)?.tool
    const waitMs = Number(args.waitSeconds ?? MAX_WAIT_S) * 1000
    return follow(app, { task, tool, caller, round, called: { name: status.name, args }, waitMs })
  },
}

const answer: FollowUp = {
  name: 'task_answer',
  title: 'Answer a question of a task',
  description:
    'Answers an open question of a task, where the tool allows the model to. The question, its key and the schema of its answer come from task_status.',
  inputSchema: {
    type: 'object',
    properties: {
      taskId,
      key: { type: 'string', description: 'The key of the question, as given.' },
      action: { enum: ['accept', 'decline'], description: 'Whether the run may go on with this answer.' },
      content: {
        type: 'object',
        description: 'The answer; must fit the schema of the question. Only with accept.',
      },
    },
    required: ['taskId', 'key', 'action'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  urgent: true,
  async run(app, args, caller) {
    const key = { owner: caller.owner, taskId: String(args.taskId) }
    const present = await app.service.get(key)
    const tool = app.tools.get(present.record.tool)?.tool
    if (tool?.humanInput !== 'model') {
      return errorResult(
        `No answer was taken: questions of ${present.record.tool} are for a person, so an answer through this tool does not count. ${statusMessage(present, { canBeAsked: canBeAsked(tool, caller) })}`,
      )
    }
    const scopes = lackedScopes(tool, caller)
    if (scopes) return errorResult(`No answer was taken: ${lacksScopes(tool, scopes)}`)
    const question = String(args.key)
    const content = (args.content ?? {}) as JsonObject
    const response =
      args.action === 'accept' ? { action: 'accept' as const, content } : { action: 'decline' as const }
    const { task, outcomes } = await app.service.answer(key, { [question]: response })
    const text = handleText(app, task, tool, caller)
    return outcomes[question] === 'delivered'
      ? textResult(`The answer was delivered. ${text}`)
      : errorResult(
          `No answer was taken: ${JSON.stringify(question)} is no open question of this task. ${text}`,
        )
  },
}

const cancel: FollowUp = {
  name: 'task_cancel',
  title: 'Stop a task',
  description:
    'Asks the engine to stop the run of a task, or says that it can not be stopped here. It may end before that; task_status tells how it ended.',
  inputSchema: {
    type: 'object',
    properties: {
      taskId,
      reason: { type: 'string', maxLength: 256, description: 'Why, for the record of the run.' },
    },
    required: ['taskId'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  urgent: true,
  async run(app, args, caller) {
    const key = { owner: caller.owner, taskId: String(args.taskId) }
    const task = await app.service.cancel(key, String(args.reason ?? 'Cancelled by the caller.'))
    const tool = app.tools.get(task.record.tool)?.tool
    return textResult(`Task ${key.taskId}: ${statusMessage(task, { canBeAsked: canBeAsked(tool, caller) })}`)
  },
}

/** In the order of `tools/list`. */
export const FOLLOW_UPS: ReadonlyMap<string, FollowUp> = new Map(
  [status, answer, cancel, taskLog, taskList].map((tool) => [tool.name, checked(tool)]),
)

/** The tool with its arguments checked first. */
function checked(tool: FollowUp): FollowUp {
  return {
    ...tool,
    run(app, args, caller, round) {
      // Compiled at the first call: a start would wait for five of them.
      const problems = compileSchema(tool.inputSchema, `The schema of ${tool.name}`, { checked: true })(args)
      if (problems.length > 0) {
        throw new RunbridgeError(
          'invalid_input',
          `The arguments of ${tool.name} do not fit its schema. ${problems.join('; ')}.`,
        )
      }
      return tool.run(app, args, caller, round)
    },
  }
}
