import { DEFAULT_LIMITS, type Limits } from '@runbridge/server'
import * as z from 'zod'
import { authSchema } from './auth-schema.js'
import { ms, text } from './fields.js'
import { githubActionsEngine } from './github-actions-schema.js'
import { googleWorkflowsEngine } from './google-workflows-schema.js'
import { stepFunctionsEngine } from './step-functions-schema.js'
import { storeSchema } from './store-schema.js'
import { toolSchema } from './tool-schema.js'

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
    stepFunctions: stepFunctionsEngine.prefault({}),
    googleWorkflows: googleWorkflowsEngine.prefault({}),
    githubActions: githubActionsEngine.optional(),
  })
  .describe('Settings of the engines')

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
