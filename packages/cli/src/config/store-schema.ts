import * as z from 'zod'
import { text } from './fields.js'

const sqlite = z
  .strictObject({
    path: text('The file. A relative path starts at the folder of this configuration file').default(
      '.runbridge/tasks.sqlite',
    ),
  })
  .describe('One SQLite file, shared by any number of processes on this machine. The default')

const postgres = z
  .strictObject({
    url: text(
      '`postgres://user:password@host:5432/database`, with `?sslmode=verify-full` where the way there is not your own. Take it from the environment',
    ),
    schema: z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,52}$/, 'use lower-case letters, digits and _')
      .default('runbridge')
      .describe('The schema of its tables, made where it is missing'),
    maxConnections: z
      .int()
      .min(2)
      .default(10)
      .describe('Connections of one process at most; one of them listens'),
  })
  .describe('PostgreSQL 15 or newer, for any number of replicas')

const dynamodb = z
  .strictObject({
    table: text('A table for this store alone'),
    region: text('Its region. Credentials come from the standard AWS chain'),
    endpoint: z.url().optional().describe("An endpoint instead of the region's own"),
  })
  .describe('One DynamoDB table, for any number of replicas and for Lambda')

const sealed = z
  .strictObject({
    keys: z
      .array(z.string().min(32, 'use at least 32 random characters, such as `openssl rand -base64 32` gives'))
      .min(1)
      .describe(
        'Random texts of at least 32 characters, from the environment. The first one seals, each opens, so that keys can be rotated',
      ),
    maxAgeMs: z
      .int()
      .min(0)
      .optional()
      .describe(
        'How long after its start a task is known, in milliseconds: the longest run and its retention. Default: 400 days',
      ),
  })
  .describe(
    'No records: the id of a task is its record, encrypted. For tools without `idempotencyKey`, and without sessions, lists and events',
  )

const memory = z
  .strictObject({})
  .describe('Nothing survives a restart: runs go on in the engine, but no client finds them again')

const NAMES = '`sqlite`, `postgres`, `dynamodb`, `sealed` or `memory`'

export const storeSchema = z
  .strictObject({
    sqlite: sqlite.optional(),
    postgres: postgres.optional(),
    dynamodb: dynamodb.optional(),
    sealed: sealed.optional(),
    memory: memory.optional(),
  })
  .refine(
    (stores) => Object.values(stores).filter((store) => store !== undefined).length === 1,
    `name exactly one store: ${NAMES}`,
  )
  .describe('Where task records are kept: exactly one of these')
