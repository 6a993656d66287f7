import { deepStrictEqual, match, ok, strictEqual } from 'node:assert'
import { createHash } from 'node:crypto'
import { checkAccess, createStepFunctionsClients, stepFunctions } from '@runbridge/step-functions'
import { startMinistack } from '../ministack.mjs'

/** @typedef {import('../ministack.mjs').Ministack} Ministack */
/** @typedef {import('../checks.mjs').Checks} Checks */

const PLACE = 'us-east-1:000000000000'
const MACHINE = `arn:aws:states:${PLACE}:stateMachine:nap`
const EXECUTIONS = `arn:aws:states:${PLACE}:execution:nap:*`
const SERVER = 'arn:aws:iam::000000000000:user/server'
const roleArn = (/** @type {string} */ name) => `arn:aws:iam::000000000000:role/${name}`
const ownerNamed = (/** @type {string} */ name) => JSON.stringify(['subject', 'https://i.example', name])
/** As docs/step-functions.md tells an operator to make it. */
const externalId = (/** @type {string} */ owner) => createHash('sha256').update(owner).digest('hex')
/** @param {{ kind: string, error?: import('@runbridge/core').RunbridgeError } | { kind: string }} result */
const toldBy = (result) => {
  const error = 'error' in result ? result.error : undefined
  return [result.kind, error?.code, error?.message]
}
const policy = (/** @type {object[]} */ ...statements) =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: statements.map((statement) => ({ Effect: 'Allow', ...statement })),
  })

/**
 * A role for each owner, against ministack with trust policies and permissions evaluated.
 * @param {Checks} checks
 */
export async function rolesAgainstMinistack({ check }) {
  const ministack = await startMinistack({ env: { AUTH: 'true' } })
  const before = process.env.AWS_ENDPOINT_URL_STS
  process.env.AWS_ENDPOINT_URL_STS = ministack.url
  /** @type {(() => unknown)[]} */
  const closing = []
  try {
    const credentials = await furnish(ministack)
    /** @param {Record<string, string>} roles */
    const opened = (roles) => {
      const clients = createStepFunctionsClients({
        ...{ region: 'us-east-1', endpoint: ministack.url, credentials, roles },
      })
      const backend = stepFunctions({ clients })
      closing.push(
        () => clients.close(),
        () => backend.close(),
      )
      return { clients, backend }
    }
    const ada = ownerNamed('ada')
    const bob = ownerNamed('bob')
    const eve = ownerNamed('eve')
    const as = (/** @type {string} */ owner) => ({ signal: AbortSignal.timeout(30_000), owner })
    const { backend, clients } = opened({ [ada]: roleArn('ada'), [bob]: roleArn('bob') })
    const workflow = { id: MACHINE }

    await check(
      'the server describes the state machine with its own credentials, and may do nothing else',
      async () => {
        strictEqual((await backend.describe(workflow, as(ada))).capabilities.start, 'idempotent')
        const own = stepFunctions({ clients: { ...clients, byOwner: undefined } })
        const refused = await own.start(workflow, 'rb-own', {}, as(ada))
        deepStrictEqual(toldBy(refused).slice(0, 2), ['refused', 'denied'])
      },
    )
    await check("an owner's role starts, follows and stops a run", async () => {
      const started = await backend.start(workflow, 'rb-ada', {}, as(ada))
      if (started.kind !== 'started') throw started.error
      const look = { ...as(ada), gates: false, progress: true }
      const seen = await backend.get(workflow, started.run, look)
      strictEqual(seen.kind, 'snapshot')
      // Of a role that may do nothing.
      const denied = await backend.get(workflow, started.run, { ...look, owner: bob })
      deepStrictEqual(toldBy(denied).slice(0, 2), ['unreadable', 'denied'])
      // Of nobody.
      strictEqual((await backend.get(workflow, started.run, { ...look, owner: eve })).kind, 'unreadable')
      strictEqual((await backend.cancel(workflow, started.run, 'enough', as(ada))).kind, 'sent')
    })
    await check('a role is assumed for its own owner alone, by the external id', async () => {
      const { backend: wrong } = opened({ [eve]: roleArn('ada') })
      const refused = await wrong.start(workflow, 'rb-eve', {}, as(eve))
      deepStrictEqual(toldBy(refused).slice(0, 2), ['refused', 'denied'])
      match(toldBy(refused)[2] ?? '', /sts:AssumeRole on arn:aws:iam::000000000000:role\/ada/)
    })
    await check('a check of a role finds what it lacks', async () => {
      const access = async (/** @type {string} */ owner) => {
        const theirs = clients.byOwner?.open(owner)
        ok(theirs)
        const reports = await checkAccess(theirs, MACHINE, ['follow', 'cancel'], as(owner))
        theirs.close()
        return new Set(reports.map(({ access }) => access))
      }
      deepStrictEqual(await access(ada), new Set(['allowed']))
      deepStrictEqual(await access(bob), new Set(['missing']))
    })
    await check('an owner without a role starts nothing', async () => {
      strictEqual((await backend.start(workflow, 'rb-nobody', {}, as(eve))).kind, 'refused')
      const { executions } = await ministack.call('states', 'ListExecutions', { stateMachineArn: MACHINE })
      deepStrictEqual(
        executions.map((/** @type {{ name: string }} */ { name }) => name),
        ['rb-ada'],
      )
    })
  } finally {
    if (before === undefined) delete process.env.AWS_ENDPOINT_URL_STS
    else process.env.AWS_ENDPOINT_URL_STS = before
    for (const close of closing) await close()
    await ministack.close()
  }
}

/**
 * A state machine, the role of `ada`, which may use it and is for her, that of `bob`, which may do nothing, and a user
 * who may describe it and assume both.
 * @param {Ministack} ministack
 */
async function furnish({ call }) {
  const AssumeRolePolicyDocument = policy({
    Action: 'sts:AssumeRole',
    Principal: { Service: 'states.amazonaws.com' },
  })
  await call('iam', 'CreateRole', { RoleName: 'machine', AssumeRolePolicyDocument })
  const definition = { StartAt: 'Nap', States: { Nap: { Type: 'Wait', Seconds: 60, End: true } } }
  await call('states', 'CreateStateMachine', {
    name: 'nap',
    definition: JSON.stringify(definition),
    roleArn: roleArn('machine'),
  })
  await call('iam', 'CreateUser', { UserName: 'server' })
  await call('iam', 'PutUserPolicy', {
    UserName: 'server',
    PolicyName: 'this',
    PolicyDocument: policy(
      { Action: 'states:DescribeStateMachine', Resource: MACHINE },
      { Action: 'sts:AssumeRole', Resource: [roleArn('ada'), roleArn('bob')] },
    ),
  })
  for (const name of ['ada', 'bob']) {
    const Condition = { StringEquals: { 'sts:ExternalId': externalId(ownerNamed(name)) } }
    const AssumeRolePolicyDocument = policy({
      Action: 'sts:AssumeRole',
      Principal: { AWS: SERVER },
      Condition,
    })
    await call('iam', 'CreateRole', { RoleName: name, AssumeRolePolicyDocument })
  }
  await call('iam', 'PutRolePolicy', {
    RoleName: 'ada',
    PolicyName: 'this',
    PolicyDocument: policy(
      { Action: ['states:DescribeStateMachine', 'states:StartExecution'], Resource: MACHINE },
      {
        Action: ['states:DescribeExecution', 'states:GetExecutionHistory', 'states:StopExecution'],
        Resource: EXECUTIONS,
      },
    ),
  })
  const xml = await call('iam', 'CreateAccessKey', { UserName: 'server' })
  const part = (/** @type {string} */ tag) => new RegExp(`<${tag}>([^<]+)</${tag}>`).exec(xml)?.[1] ?? ''
  return { accessKeyId: part('AccessKeyId'), secretAccessKey: part('SecretAccessKey') }
}
