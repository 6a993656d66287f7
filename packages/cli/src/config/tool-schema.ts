import { isJsonObject } from '@runbridge/core'
import { TOOL_DEFAULTS } from '@runbridge/server'
import * as z from 'zod'
import { scopes } from './auth-schema.js'
import { jsonObject, ms, text } from './fields.js'
import { githubActionsTool } from './github-actions-schema.js'
import { googleWorkflowsTool } from './google-workflows-schema.js'
import { stepFunctionsTool } from './step-functions-schema.js'

const question = (key: string) =>
  z.strictObject({
    message: text('What the person reads'),
    key: text(`The key of the question on the wire. Default: ${key}`).optional(),
  })

/** MCP 2026-07-28, server/tools, "Tool Names". */
const toolName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,128}$/, 'use 1 to 128 of the characters A-Z a-z 0-9 _ - .')
  .describe('The name that agents call: 1 to 128 of `A-Z a-z 0-9 _ - .`')

const tool = z.strictObject({
  name: toolName,
  title: text('A title for people').optional(),
  description: text(
    "What the tool does and when to use it, for the model. Default: the workflow's own",
  ).optional(),
  annotations: z
    .strictObject({
      title: text('A title for people').optional(),
      readOnlyHint: z.boolean().optional().describe('It changes nothing'),
      destructiveHint: z.boolean().optional().describe('It may delete or overwrite'),
      idempotentHint: z
        .boolean()
        .optional()
        .describe('Calling it again with the same arguments changes nothing more'),
      openWorldHint: z.boolean().optional().describe('It touches systems outside your own'),
    })
    .optional()
    .describe('Hints for the host (MCP `ToolAnnotations`)'),
  stepFunctions: stepFunctionsTool.optional(),
  googleWorkflows: googleWorkflowsTool.optional(),
  githubActions: githubActionsTool.optional(),
  input: jsonObject('JSON Schema 2020-12 of the arguments, an object. Default: any object').optional(),
  output: jsonObject(
    'JSON Schema 2020-12 of the output, an object. A run whose output does not fit has succeeded all the same; its result is an error that says so and shows the output as text',
  ).optional(),
  taskSupport: z
    .enum(['forbidden', 'optional', 'required'])
    .optional()
    .describe(
      '`optional`: a task for clients that have them, a bounded hold for others. `required`: refused to clients without tasks. `forbidden`: synchronous, only for Express state machines. Default: `optional`, for Express state machines `forbidden`',
    ),
  confirm: question('`confirm`')
    .optional()
    .describe(
      'Asked before anything starts; `{argument}` in the message stands for the value of that argument',
    ),
  askFor: z
    .record(z.string(), question("the argument's name"))
    .optional()
    .describe('Required arguments that are asked for when the call leaves them out, by name'),
  idempotencyKey: z
    .array(text('The name of an argument'))
    .min(1, 'name at least one argument')
    .optional()
    .describe(
      'Arguments that make two calls equal: while a task is alive, the same caller calling again with the same values of them gets that task, and nothing is started',
    ),
  attach: z
    .boolean()
    .default(false)
    .describe(
      'The tool starts nothing and watches a run that was started elsewhere. It takes the run as its one argument, `run`, or the one required string that `input` has: for Step Functions the ARN of an execution of this state machine',
    ),
  cancelAttached: z
    .boolean()
    .optional()
    .describe(
      'Whether cancelling a task of an `attach` tool stops the run that somebody else started. Default: it only watches',
    ),
  scopes: scopes(
    'What the token of a caller needs, all of it, to start the runs of this tool and to answer their questions. Default: nothing',
  ).optional(),
  humanInput: z
    .enum(['off', 'elicitation', 'model'])
    .default(TOOL_DEFAULTS.humanInput)
    .describe(
      'Who may answer a state that waits for a person. `off`: nobody from here. `elicitation`: a person, by an elicitation of the host. `model`: the model too',
    ),
  unanswerable: z
    .enum(['refuse', 'show'])
    .default(TOOL_DEFAULTS.unanswerable)
    .describe(
      'When the caller can’t be asked: `refuse` the call before it starts, or `show` who must answer where',
    ),
  holdMs: ms(
    'How long a call of a client without tasks is held before it is answered with a task id',
  ).default(TOOL_DEFAULTS.holdMs),
  onAbandon: z
    .enum(['continue', 'cancel'])
    .default(TOOL_DEFAULTS.onAbandon)
    .describe(
      'When a client without tasks takes its held call back: the run goes on, or is asked to stop. Many hosts take a call back at their own time-out too. A lost connection never stops a run',
    ),
  retainMs: ms('How long a task is kept after its end').default(TOOL_DEFAULTS.retainMs),
  resultText: text(
    'The text of the result instead of the output as JSON; `{path.to.value}` stands for a part of the output',
  ).optional(),
  progress: z
    .boolean()
    .default(TOOL_DEFAULTS.progress)
    .describe('Whether the current state is read from the history and shown'),
})

/** The keys of a tool that name its workflow. */
const ENGINES = ['stepFunctions', 'googleWorkflows', 'githubActions'] as const

export const toolSchema = tool.refine(
  (entry) => ENGINES.filter((engine) => entry[engine] !== undefined).length === 1,
  {
    error: `names no workflow, or several: write exactly one of ${ENGINES.map((engine) => `\`${engine}\``).join(', ')}`,
    // Told beside whatever else is wrong with the tool.
    when: ({ value }) => isJsonObject(value),
  },
)
