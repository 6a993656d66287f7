import { LOCAL_OWNER } from '@runbridge/core'
import * as z from 'zod'
import { jsonObject, ms, text } from './fields.js'

const ROLE = /^arn:aws[\w-]*:iam::\d{12}:role\/\S+$/

/** Owners are compared for equality, so one that the server never makes would never be served. */
const roles = z
  .record(z.string(), text('A role').regex(ROLE, 'is no ARN of a role; write arn:aws:iam::ACCOUNT:role/NAME'))
  .superRefine((value, { addIssue }) => {
    for (const owner of Object.keys(value).filter((key) => !isOwner(key)))
      addIssue({ code: 'custom', path: [owner], message: NO_OWNER })
  })
  .describe(
    'The role of each caller, by owner as the audit log names it: its runs are started, followed and stopped with that role, and nothing is done for a caller without one. Assumed with the credentials found, or with those of `roleArn`. Default: the same credentials for all callers',
  )

const NO_OWNER =
  'is no owner; write it as the audit log has it, in single quotes: `local`, or \'["subject","ISSUER","SUBJECT"]\' without spaces'

/** As `ownerOf` of the server makes them. */
function isOwner(key: string): boolean {
  if (key === LOCAL_OWNER) return true
  try {
    const parts: unknown = JSON.parse(key)
    const strings = Array.isArray(parts) && parts.every((part) => typeof part === 'string')
    return strings && parts.length === 3 && KINDS.includes(String(parts[0])) && JSON.stringify(parts) === key
  } catch {
    return false
  }
}

const KINDS: readonly string[] = ['subject', 'client', 'iam']

/** `engines.stepFunctions` */
export const stepFunctionsEngine = z
  .strictObject({
    profile: text('A profile of the AWS configuration files').optional(),
    roleArn: text('A role that is assumed with the credentials found').optional(),
    roles: roles.optional(),
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
  .describe(
    "AWS Step Functions. Regions come from the state machines' ARNs, credentials from the standard AWS chain",
  )

const gate = z.strictObject({
  prompt: text('The question as a person reads it').optional(),
  schema: jsonObject(
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

/** `tools[].stepFunctions` */
export const stepFunctionsTool = z
  .strictObject({
    stateMachineArn: text('The state machine, with `:VERSION` or `:ALIAS` behind it if you want one of them'),
    gates: z
      .record(z.string(), z.union([gate, z.literal(false)]))
      .optional()
      .describe(
        'What is asked at a state that waits for a task token, by state name; `false`: its token is not for people',
      ),
  })
  .describe('The state machine that a call starts')
