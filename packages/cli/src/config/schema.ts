import { isJsonObject, type JsonObject } from '@runbridge/core'
import { DEFAULT_LIMITS, type Limits, TOOL_DEFAULTS } from '@runbridge/server'
import * as z from 'zod'
import { authSchema, scopes } from './auth-schema.js'
import { githubActionsEngine, githubActionsTool } from './github-actions-schema.js'
import { googleWorkflowsEngine, googleWorkflowsTool } from './google-workflows-schema.js'
import { storeSchema } from './store-schema.js'

const text = (description: string) => z.string().min(1).describe(description)
const ms = (description: string) => z.int().min(0).describe(`${description}, in milliseconds`)

/** JSON as YAML gives it; what it must be as a JSON Schema is checked when the tool is composed. */
const jsonObject: z.ZodType<JsonObject> = z.record(
  z.string(),
  z.unknown(),
) as unknown as z.ZodType<JsonObject>
const jsonSchema = (description: string) => jsonObject.meta({ description })

const count = (description: string) => z.int().min(1).describe(description)

/** Total by type: a new limit of the server does not compile until it is named here. */
const limits = {
  maxOpenTasks: count('Open tasks of one caller').max(1000).default(DEFAULT_LIMITS.maxOpenTasks),
  maxCalls: count('Calls of one caller at the same time, held ones included').default(
    DEFAULT_LIMITS.maxCalls,
  ),
  maxSubscriptions: count('Open subscriptions of one caller').default(DEFAULT_LIMITS.maxSubscriptions),
  maxSubscriptionsInAll: count('Open subscriptions of all callers together').default(
    DEFAULT_LIMITS.maxSubscriptionsInAll,
  ),
  maxBodyBytes: count('The body of a request, in bytes').default(DEFAULT_LIMITS.maxBodyBytes),
  questionMs: ms('How long a question before the start may wait for its answer').default(
    DEFAULT_LIMITS.questionMs,
  ),
  maxSessions: count('Open sessions of one host of an older revision').default(DEFAULT_LIMITS.maxSessions),
  sessionIdleMs: ms('How long such a session is kept that nobody uses').default(DEFAULT_LIMITS.sessionIdleMs),
  askGraceMs: ms(
    'How long a question of a task waits for a `tasks/result` before it goes out by itself',
  ).default(DEFAULT_LIMITS.askGraceMs),
  progressMs: ms('How often a held call reports progress at least').default(DEFAULT_LIMITS.progressMs),
  sweepMs: ms('How often expired tasks are removed and due starts settled').default(DEFAULT_LIMITS.sweepMs),
  drainMs: ms('How long a graceful end waits for what is under way').default(DEFAULT_LIMITS.drainMs),
  listTtlMs: ms('For how long a client may keep the list of tools').default(DEFAULT_LIMITS.listTtlMs),
} satisfies Record<keyof Limits, z.ZodType<number>>

const server = z
  .strictObject({
    host: text(
      'The address to listen on. Anything but a loopback address needs `auth` with a `resourceUrl`',
    ).default('127.0.0.1'),
    port: z
      .int()
      .min(0)
      .max(65_535)
      .default(8080)
      .describe('The port to listen on; 0 lets the system choose'),
    name: text('The name shown to clients').default('runbridge'),
    title: text('A title for people').optional(),
    instructions: text('What an agent should know about these tools as a whole').optional(),
    allowedHosts: z
      .array(text('A host name'))
      .optional()
      .describe('Host names accepted in the Host header beside loopback names, without ports'),
    allowedOrigins: z
      .array(text('An origin, such as `https://app.example.com`'))
      .optional()
      .describe(
        'Origins accepted in the Origin header beside loopback ones; requests without the header always are',
      ),
    auth: authSchema.optional(),
    audit: z
      .boolean()
      .default(true)
      .describe(
        'Whether calls, answers and cancels are told, one JSON line each on standard error, whatever `logLevel`',
      ),
    secret: z
      .string()
      .min(32)
      .optional()
      .describe(
        'Seals the state of questions that are asked before a run starts. Every process behind one address needs the same. Default: a random one kept in the store',
      ),
    limits: z
      .strictObject(limits)
      .prefault({})
      .describe('Bounds. A call over one of them is answered with an error that names it'),
    logLevel: z
      .enum(['debug', 'info', 'warn', 'error', 'silent'])
      .default('info')
      .describe('What is logged, as JSON lines on standard error'),
  })
  .describe('How the server listens and presents itself')

const engines = z
  .strictObject({
    stepFunctions: z
      .strictObject({
        profile: text('A profile of the AWS configuration files').optional(),
        roleArn: text('A role that is assumed with the credentials found').optional(),
        endpoint: z.url().optional().describe("An endpoint instead of the region's own"),
        readsPerSecond: z
          .number()
          .positive()
          .optional()
          .describe(
            'Looks at executions a second, for each process, in one account and region. With several processes divide it. Default: half of what AWS documents, 7.5 in us-east-1, us-west-2 and eu-west-1 and 5 elsewhere',
          ),
        graceMs: ms(
          'For how long after its start a run that the engine does not show is taken to be on its way. Default: what the engine needs',
        ).optional(),
      })
      .prefault({})
      .describe(
        "AWS Step Functions. Regions come from the state machines' ARNs, credentials from the standard AWS chain",
      ),
    googleWorkflows: googleWorkflowsEngine.prefault({}),
    githubActions: githubActionsEngine.optional(),
  })
  .describe('Settings of the engines')

const gate = z.strictObject({
  prompt: text('The question as a person reads it').optional(),
  schema: jsonSchema(
    'JSON Schema of the answer: one flat object of primitive properties. Default: no properties, so that accepting or declining is the answer',
  ).optional(),
  promptField: text(
    "The field of the task's parameters that holds the question, such as `MessageBody.question`",
  ).optional(),
  schemaField: text("The field of the task's parameters that holds the JSON Schema of the answer").optional(),
  tokenField: text(
    'The field that holds the task token. Only needed where more than one looks like it',
  ).optional(),
})

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
  stepFunctions: z
    .strictObject({
      stateMachineArn: text(
        'The state machine, with `:VERSION` or `:ALIAS` behind it if you want one of them',
      ),
      gates: z
        .record(z.string(), z.union([gate, z.literal(false)]))
        .optional()
        .describe(
          'What is asked at a state that waits for a task token, by state name; `false`: its token is not for people',
        ),
    })
    .optional()
    .describe('The state machine that a call starts'),
  googleWorkflows: googleWorkflowsTool.optional(),
  githubActions: githubActionsTool.optional(),
  input: jsonSchema('JSON Schema 2020-12 of the arguments, an object. Default: any object').optional(),
  output: jsonSchema('JSON Schema 2020-12 of the output, an object').optional(),
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

/** `runbridge.yaml`. The one description of it: types, checks, the editor's schema and the docs follow. */
export const configSchema = z
  .strictObject({
    server: server.prefault({}),
    store: storeSchema.prefault({ sqlite: {} }),
    engines: engines.prefault({}),
    tools: z.array(toolSchema).min(1, 'name at least one tool').describe('The tools'),
  })
  .describe('Runbridge configuration')

export type Config = z.output<typeof configSchema>
export type ToolConfig = Config['tools'][number]
