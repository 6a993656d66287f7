import { deepStrictEqual, match, ok, strictEqual } from 'node:assert'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { dynamodbTable } from '@runbridge/stores/dynamodb'
import { root } from '../../bin/command.mjs'
import { PLAIN, WITH_TASKS } from '../../bin/mcp-request.mjs'
import { call as callMcp } from '../../faults/call.mjs'
import { connect } from '../client.mjs'
import { asRoot } from '../ministack.mjs'
import {
  ACCOUNT,
  eventually,
  invoke,
  MACHINES,
  newToken,
  newUser,
  REGION,
  received,
  resources,
} from './account.mjs'
import { cdk, synthesized } from './cdk.mjs'
import { startUrlFront } from './url-front.mjs'

/** @typedef {import('../checks.mjs').Checks} Checks */
/** @typedef {import('../ministack.mjs').Ministack} Ministack */

const NAME = 'ministack'
/** Its scheduler and its time to live look once a minute. */
const MINUTE_MS = 75_000

/**
 * @param {Checks} checks @param {Ministack} ministack
 * @param {{ approvals: string, meanwhile: () => Promise<void> }} world the queue of the state machine that asks, and
 *   what there is to do while the minute of a schedule passes
 */
export async function throughTheStack({ check, known }, ministack, { approvals, meanwhile }) {
  const { call, folder } = ministack
  const name = (/** @type {string} */ what) => `${NAME}: ${what}`
  const secret = await newToken(ministack, 'stack/token')
  const deployer = await newUser(ministack, 'deployer', {
    Action: 'sts:AssumeRole',
    Resource: `arn:aws:iam::${ACCOUNT}:role/cdk-hnb659fds-*`,
  })
  const out = join(folder, 'stack')
  const outputs = join(folder, 'outputs.json')
  /** @param {string} config @param {readonly string[]} more */
  const deploy = async (config, ...more) => {
    const secrets = `secrets=TOKEN_SHA256=${secret.arn}`
    const options = ['-c', `config=${config}`, '-c', secrets, '--output', out, ...more]
    const how = ['--require-approval', 'never', '--outputs-file', outputs]
    await cdk(ministack, deployer, ['deploy', ...options, ...how])
    return String(Object.values(JSON.parse(readFileSync(outputs, 'utf8')).Runbridge)[0])
  }
  const config = join(root, 'test/fixtures/interop-aws.yaml')
  /** @type {string | undefined} */
  let url
  await check(
    name('`cdk deploy` makes the whole stack for who may assume the roles of the bootstrap and nothing else'),
    async () => {
      url = await deploy(config)
    },
  )
  if (url === undefined) return
  const stack = synthesized(out, 'Runbridge')
  const { table, fn, rules, deadLetters, logGroup } = await resources(ministack, 'Runbridge')

  await check(name('the table has the keys and indexes that the store needs, on demand'), async () => {
    const { Table } = await call('dynamodb', 'DescribeTable', { TableName: table })
    const wanted = dynamodbTable(table)
    deepStrictEqual(Table.KeySchema, wanted.KeySchema)
    deepStrictEqual(
      Table.GlobalSecondaryIndexes.map((/** @type {any} */ { IndexName, KeySchema, Projection }) => ({
        IndexName,
        KeySchema,
        Projection,
      })),
      wanted.GlobalSecondaryIndexes,
    )
    strictEqual(Table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST')
  })
  await known(
    name('the deployment switches time to live on'),
    'its CloudFormation leaves TimeToLiveSpecification out; it is switched on by what the template says',
    async () => {
      const { TimeToLiveDescription } = await call('dynamodb', 'DescribeTimeToLive', { TableName: table })
      strictEqual(TimeToLiveDescription.TimeToLiveStatus, 'ENABLED')
    },
  )
  const [{ TimeToLiveSpecification }] = stack.resources('AWS::DynamoDB::Table')
  await call('dynamodb', 'UpdateTimeToLive', { TableName: table, TimeToLiveSpecification })
  const put = (/** @type {object} */ Item) => call('dynamodb', 'PutItem', { TableName: table, Item })
  const seconds = Math.floor(Date.now() / 1000)
  await put({ pk: { S: 'name#past' }, sk: { S: 'name' }, ttl: { N: String(seconds - 1) } })
  await put({ pk: { S: 'name#future' }, sk: { S: 'name' }, ttl: { N: String(seconds + 3600) } })
  const items = async () =>
    /** @type {any[]} */ ((await call('dynamodb', 'Scan', { TableName: table })).Items)
  const itemOf = async (/** @type {string} */ taskId) =>
    (await items()).find(({ pk, sk }) => sk.S === 'record' && pk.S.includes(taskId))

  const { QueueUrl: seen } = await call('sqs', 'CreateQueue', { QueueName: 'seen' })
  await call('events', 'PutTargets', {
    Rule: rules.statusChanges,
    Targets: [{ Id: 'seen', Arn: `arn:aws:sqs:${REGION}:${ACCOUNT}:seen` }],
  })

  const front = await startUrlFront(ministack, url, { authorization: `Bearer ${secret.token}` })
  const mcp = (
    /** @type {string} */ method,
    /** @type {object} */ params,
    capabilities = /** @type {object} */ (WITH_TASKS),
  ) => callMcp(front.url, method, params, capabilities)
  try {
    await check(
      name(
        'the Function URL is public, and the handler asks for a token; it has its hash from Secrets Manager',
      ),
      async () => {
        const { hostname: host, pathname: path } = new URL(String(url))
        const answer = await ministack.request({ method: 'POST', path, headers: { host } }, '{}')
        strictEqual(answer.status, 401, answer.text)
        match(answer.headers['www-authenticate'] ?? '', /^Bearer/)
      },
    )
    await check(name('the official client runs a tool to its result by the Function URL'), async () => {
      const client = await connect(front.url, () => ({ action: 'accept', content: {} }))
      try {
        const { end } = await client.call('nap', { name: 'Ada' })
        const { status, structured } = await end
        deepStrictEqual([status, structured], ['completed', { name: 'Ada' }])
      } finally {
        await client.close()
      }
    })
    await check(name('an Express workflow answers within the call'), async () => {
      const { result } = await mcp('tools/call', { name: 'quote', arguments: { c: 3 } })
      ok(result.structuredContent, JSON.stringify(result))
      deepStrictEqual(result.structuredContent, { c: 3 })
    })
    await check(name('a gate opens, is answered by the token of its message, and closes'), async () => {
      const { result } = await mcp('tools/call', { name: 'deploy', arguments: {} })
      const look = async () => (await mcp('tasks/get', { taskId: result.taskId })).result
      await eventually('the question', async () => (await look()).status === 'input_required')
      const [{ token }] = await received(ministack, approvals, 1)
      await call('states', 'SendTaskSuccess', { taskToken: token, output: '{"ok":true}' })
      const task = await eventually('its end', async () => {
        const now = await look()
        return now.status === 'completed' && now
      })
      deepStrictEqual(task.result.structuredContent, { ok: true })
    })
    await check(
      name('a status change by EventBridge brings a task up to date that nobody asks for, without a sweep'),
      async () => {
        await call('events', 'DisableRule', { Name: rules.sweep })
        try {
          const { result } = await mcp('tools/call', { name: 'nap', arguments: {} }, PLAIN)
          const [taskId = ''] = /tsk_[\w-]+/.exec(result.content[0].text) ?? []
          match((await itemOf(taskId)).list.S, /^open#/)
          await eventually('its end in the table', async () =>
            (await itemOf(taskId)).list.S.startsWith('ended#'),
          )
        } finally {
          await call('events', 'EnableRule', { Name: rules.sweep })
        }
      },
    )
    await check(
      name('the rule passes the ends of our runs of these state machines, and nothing else'),
      async () => {
        const [{ EventPattern }] = stack
          .resources('AWS::Events::Rule')
          .filter(({ EventPattern }) => EventPattern)
        const deployed = await call('events', 'DescribeRule', { Name: rules.statusChanges })
        deepStrictEqual(JSON.parse(deployed.EventPattern), EventPattern)
        await received(ministack, seen)
        const runs = { greet: ['rb-ours', 'theirs'], other: ['rb-elsewhere'] }
        for (const [machine, names] of Object.entries(runs)) {
          for (const run of names) {
            const request = { stateMachineArn: `${MACHINES}:${machine}`, name: run, input: '{}' }
            await call('states', 'StartExecution', request)
          }
        }
        const passed = await received(ministack, seen, 2)
        deepStrictEqual(
          passed.map(({ detail }) => `${detail.name} ${detail.status}`),
          ['rb-ours SUCCEEDED'],
        )
      },
    )
    await check(name('an event that nobody takes is tried again and becomes a dead letter'), async () => {
      strictEqual((await invoke(ministack, fn, { hello: 1 }, 'Event')).status, 202)
      const [letter] = await eventually('a dead letter', async () => {
        const letters = await received(ministack, deadLetters)
        return letters.length > 0 && letters
      })
      deepStrictEqual(letter.requestPayload, { hello: 1 })
      match(JSON.stringify(letter.responsePayload), /This event is no HTTP request/)
    })
    await check(name('an invocation that fails rings the alarm of errors'), async () => {
      const { headers } = await invoke(ministack, fn, { hello: 2 }, 'RequestResponse')
      ok(headers['x-amz-function-error'] !== undefined)
      await eventually('the alarm', async () => /ErrorsAlarm/.test(await ringing(ministack)))
    })
    await known(name('a dead letter rings its alarm'), 'it has no metrics of queues', async () => {
      await call('sqs', 'SendMessage', { QueueUrl: deadLetters, MessageBody: '{}' })
      await eventually('the alarm', async () => /DeadLettersAlarm/.test(await ringing(ministack)), 3_000)
    })
    await known(
      name('runs that can not be read ring their alarm'),
      'metric filters are kept and not applied',
      async () => {
        const logStreamName = 'interop'
        const message = JSON.stringify({ msg: 'a run could not be read' })
        const logEvents = Array.from({ length: 10 }, () => ({ timestamp: Date.now(), message }))
        await call('logs', 'CreateLogStream', { logGroupName: logGroup, logStreamName })
        await call('logs', 'PutLogEvents', { logGroupName: logGroup, logStreamName, logEvents })
        await eventually('the alarm', async () => /Unreadable/.test(await ringing(ministack)), 3_000)
      },
    )
    await check(name('ten counts of the metric filter of unreadable runs ring its alarm'), async () => {
      const [{ MetricTransformations }] = stack.resources('AWS::Logs::MetricFilter')
      const [{ MetricName }] = MetricTransformations
      ok(!/Unreadable/.test(await ringing(ministack, MetricName, 9)))
      match(await ringing(ministack, MetricName, 1), /UnreadableAlarm/)
    })
    await check(name('the log group of the template has the log, and no token'), async () => {
      const { events } = await call('logs', 'FilterLogEvents', { logGroupName: logGroup })
      const log = events.map((/** @type {any} */ { message }) => message).join('\n')
      match(log, /"audit":"call"/)
      ok(!log.includes(secret.token))
    })
    const { result } = await mcp('tools/call', { name: 'greet', arguments: {} })
    const expired = () => itemOf(result.taskId)
    await eventually('its end', async () => (await expired()).list.S.startsWith('ended#'))
    await expire(ministack, table, await expired())
    await meanwhile()
    await check(name('the schedule sweeps, once a minute: an expired record goes'), () =>
      eventually('the sweep', async () => (await expired()) === undefined, MINUTE_MS),
    )
    await check(name('time to live removes by our attribute, in its unit, and nothing before'), async () => {
      const has = async (/** @type {string} */ pk) => (await items()).some((item) => item.pk.S === pk)
      await eventually('the removal', async () => !(await has('name#past')), MINUTE_MS)
      ok(await has('name#future'))
    })
  } finally {
    await front.close()
  }
  await check(
    name('an upgrade to an HTTP API keeps the table and its tasks, and the old URL is gone'),
    async () => {
      // Express state machines are not for API Gateway.
      const [standard] = readFileSync(config, 'utf8').split('  - name: quote')
      const changed = join(folder, 'standard.yaml')
      writeFileSync(changed, String(standard))
      const before = (await items()).length
      const address = await deploy(changed, '-c', 'front=api-gateway')
      strictEqual((await resources(ministack, 'Runbridge')).table, table)
      ok((await items()).length >= before)
      const ask = (/** @type {string} */ at) => {
        const { hostname: host, pathname: path } = new URL(at)
        return ministack.request({ method: 'POST', path, headers: { host } }, '{}')
      }
      strictEqual((await ask(address)).status, 401)
      strictEqual((await ask(String(url))).status, 404)
      const api = await startUrlFront(ministack, address, { authorization: `Bearer ${secret.token}` })
      try {
        const client = await connect(api.url, () => ({ action: 'cancel' }))
        const { end } = await client.call('nap', { by: 'gateway' })
        deepStrictEqual((await end).structured, { by: 'gateway' })
        await client.close()
      } finally {
        await api.close()
      }
    },
  )
  await known(
    name('a status change that the function fails at is tried again and becomes a dead letter'),
    'its EventBridge calls a function once, and knows no dead letters',
    async () => {
      await received(ministack, deadLetters)
      await reconfigure(ministack, fn, { RUNBRIDGE_TABLE: 'missing' })
      const request = { stateMachineArn: `${MACHINES}:greet`, name: 'rb-lost', input: '{}' }
      await call('states', 'StartExecution', request)
      await eventually(
        'a dead letter',
        async () => (await received(ministack, deadLetters)).length > 0,
        4_000,
      )
    },
  )
  await check(name('`cdk destroy` takes the stack down, and leaves the table and the log'), async () => {
    await cdk(ministack, deployer, ['destroy', '--app', out, '--force'])
    const left = await resources(ministack, 'Runbridge')
    deepStrictEqual([left.fn, left.rules.statusChanges, left.deadLetters], ['', '', ''])
    deepStrictEqual([left.table, left.logGroup], [table, logGroup])
  })
}

/** The names of the alarms that ring: they are looked at when some metric comes. @param {Ministack} ministack */
async function ringing({ call }, MetricName = 'nothing', Value = 0) {
  const MetricData = [{ MetricName, Value }]
  await call('monitoring', 'PutMetricData', { Namespace: 'Runbridge', MetricData })
  const { MetricAlarms } = await call('monitoring', 'DescribeAlarms', { StateValue: 'ALARM' })
  return MetricAlarms.map((/** @type {any} */ { AlarmName }) => AlarmName).join(' ')
}

/** Makes a record expired, though not for time to live. @param {Ministack} ministack @param {string} table @param {any} item */
async function expire({ call }, table, item) {
  const { packed, ...rest } = item
  const record = JSON.parse(packed ? String(inflateRawSync(Buffer.from(packed.B, 'base64'))) : item.plain.S)
  const past = Date.now() - 60_000
  await call('dynamodb', 'PutItem', {
    TableName: table,
    Item: {
      ...rest,
      plain: { S: JSON.stringify({ ...record, endedAt: past, retainMs: 1 }) },
      due: { S: 'expires' },
      dueAt: { N: String(past) },
      ttl: { N: String(Math.floor(Date.now() / 1000) + 3600) },
    },
  })
}

/** Changes variables of a function, which replaces its sandboxes. @param {Ministack} ministack @param {string} name @param {Record<string, string>} variables */
async function reconfigure({ request }, name, variables) {
  const path = `/2015-03-31/functions/${name}/configuration`
  const { Environment } = JSON.parse((await request({ path, headers: asRoot('lambda') })).text)
  const body = JSON.stringify({ Environment: { Variables: { ...Environment.Variables, ...variables } } })
  const { status, text } = await request({ method: 'PUT', path, headers: asRoot('lambda') }, body)
  strictEqual(status, 200, text)
}
