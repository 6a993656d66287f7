import { mkdirSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createToken } from '@runbridge/server'
import { root } from '../../bin/command.mjs'
import { asRoot } from '../ministack.mjs'

/** @typedef {import('../ministack.mjs').Ministack} Ministack */

export const ACCOUNT = '000000000000'
export const REGION = 'us-east-1'
export const MACHINES = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine`
export const ROOT = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
const MACHINE_ROLE = 'machines'

const policy = (/** @type {object} */ statement) =>
  JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...statement }] })

/**
 * A user who may do this and nothing else.
 * @param {Ministack} ministack @param {string} name @param {{ Action: string | string[], Resource: string | string[] }} [statement]
 */
export async function newUser({ call }, name, statement) {
  await call('iam', 'CreateUser', { UserName: name })
  if (statement !== undefined) {
    const document = { UserName: name, PolicyName: 'this', PolicyDocument: policy(statement) }
    await call('iam', 'PutUserPolicy', document)
  }
  const xml = await call('iam', 'CreateAccessKey', { UserName: name })
  const part = (/** @type {string} */ tag) => new RegExp(`<${tag}>([^<]+)</${tag}>`).exec(xml)?.[1] ?? ''
  return { AWS_ACCESS_KEY_ID: part('AccessKeyId'), AWS_SECRET_ACCESS_KEY: part('SecretAccessKey') }
}

/** A token, and its hash as a secret that somebody made. @param {Ministack} ministack @param {string} name */
export async function newToken({ call }, name) {
  const { token, sha256 } = createToken()
  const { ARN } = await call('secretsmanager', 'CreateSecret', { Name: name, SecretString: sha256 })
  return { token, arn: String(ARN) }
}

/** Where functions find the SDK that Lambda's runtime has, beside their code and out of it. @param {Ministack} ministack */
export function linkSdk({ folder }) {
  const require = createRequire(join(root, 'infra/package.json'))
  mkdirSync(join(folder, 'node_modules/@aws-sdk'), { recursive: true })
  for (const name of ['@aws-sdk/client-ssm', '@aws-sdk/client-secrets-manager']) {
    const entry = require.resolve(name)
    const at = entry.slice(0, entry.lastIndexOf(name) + name.length)
    symlinkSync(at, join(folder, 'node_modules', name))
  }
}

const PASS = { StartAt: 'Done', States: { Done: { Type: 'Pass', End: true } } }

/** The state machines of interop-aws.yaml, and one that is in no configuration. @param {Ministack} ministack */
export async function furnish({ call }) {
  const trust = policy({ Principal: { Service: 'states.amazonaws.com' }, Action: 'sts:AssumeRole' })
  await call('iam', 'CreateRole', { RoleName: MACHINE_ROLE, AssumeRolePolicyDocument: trust })
  const PolicyDocument = policy({ Action: 'sqs:SendMessage', Resource: '*' })
  await call('iam', 'PutRolePolicy', { RoleName: MACHINE_ROLE, PolicyName: 'this', PolicyDocument })
  const { QueueUrl: queue } = await call('sqs', 'CreateQueue', { QueueName: 'approvals' })
  /** @type {Record<string, { type?: string, definition: object }>} */
  const machines = {
    greet: { definition: PASS },
    other: { definition: PASS },
    quote: { type: 'EXPRESS', definition: PASS },
    nap: {
      definition: {
        StartAt: 'Sleep',
        States: { ...PASS.States, Sleep: { Type: 'Wait', Seconds: 2, Next: 'Done' } },
      },
    },
    deploy: {
      definition: {
        StartAt: 'Approve',
        States: {
          Approve: {
            Type: 'Task',
            Resource: 'arn:aws:states:::sqs:sendMessage.waitForTaskToken',
            Parameters: { QueueUrl: queue, MessageBody: { 'token.$': '$$.Task.Token' } },
            End: true,
          },
        },
      },
    },
  }
  for (const [name, { type = 'STANDARD', definition }] of Object.entries(machines)) {
    const roleArn = `arn:aws:iam::${ACCOUNT}:role/${MACHINE_ROLE}`
    await call('states', 'CreateStateMachine', {
      name,
      type,
      roleArn,
      definition: JSON.stringify(definition),
    })
  }
  return { approvals: String(queue) }
}

/**
 * What there is of a stack, by its names; empty for what there is not.
 * @param {Ministack} ministack @param {string} stack
 */
export async function resources({ call, request }, stack) {
  const { TableNames } = await call('dynamodb', 'ListTables', {})
  const { QueueUrls = [] } = await call('sqs', 'ListQueues', {})
  const { Rules } = await call('events', 'ListRules', {})
  const { logGroups } = await call('logs', 'DescribeLogGroups', {})
  const functions = await request({ path: '/2015-03-31/functions/', headers: asRoot('lambda') })
  /** @param {string[]} names @param {RegExp} part */
  const one = (names, part) => names.find((each) => each.includes(stack) && part.test(each)) ?? ''
  const rules = Rules.map((/** @type {any} */ { Name }) => Name)
  return {
    table: one(TableNames, /./),
    deadLetters: one(QueueUrls, /DeadLetters/),
    rules: { statusChanges: one(rules, /StatusChanges/), sweep: one(rules, /Sweep/) },
    logGroup: one(
      logGroups.map((/** @type {any} */ { logGroupName }) => logGroupName),
      /(?<!Api)Log[0-9A-F]/,
    ),
    fn: one(
      JSON.parse(functions.text).Functions.map((/** @type {any} */ { FunctionName }) => FunctionName),
      /./,
    ),
  }
}

/** The messages that a queue has, taken off it. @param {Ministack} ministack @param {string} queue */
export async function received({ call }, queue, WaitTimeSeconds = 0) {
  const bodies = []
  for (;;) {
    const request = { QueueUrl: queue, MaxNumberOfMessages: 10, WaitTimeSeconds }
    const { Messages = [] } = await call('sqs', 'ReceiveMessage', request)
    for (const { Body, ReceiptHandle } of Messages) {
      await call('sqs', 'DeleteMessage', { QueueUrl: queue, ReceiptHandle })
      bodies.push(JSON.parse(Body))
    }
    if (Messages.length === 0) return bodies
  }
}

/**
 * Calls a function as who has its ARN does.
 * @param {Ministack} ministack @param {string} name @param {object} event @param {'Event' | 'RequestResponse'} type
 */
export const invoke = ({ request }, name, event, type) =>
  request(
    {
      method: 'POST',
      path: `/2015-03-31/functions/${name}/invocations`,
      headers: { ...asRoot('lambda'), 'x-amz-invocation-type': type },
    },
    JSON.stringify(event),
  )

/**
 * Looks until something is there, and says what it never saw.
 * @template T @param {string} what @param {() => Promise<T | undefined | false>} look @param {number} [ms]
 * @returns {Promise<T>}
 */
export async function eventually(what, look, ms = 15_000) {
  const until = Date.now() + ms
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > until) throw new Error(`within ${ms / 1000} s there was not: ${what}`)
    await pause(100)
  }
}
