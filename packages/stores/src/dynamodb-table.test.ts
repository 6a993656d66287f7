import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { IDLE_MS, IDLE_STEP_MS, type TaskStore } from '@runbridge/core'
import { NOON, sessionRecord, taskRecord } from '@runbridge/core/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DynamoDbClient, Item } from './dynamodb/client.js'
import { type DynamodbOptions, dynamodb, dynamodbTable } from './dynamodb.js'
import { type CuttableProxy, cuttableProxy } from './testing/cuttable-proxy.js'
import { LOCAL, startTestDynamodb, type TestDynamodb } from './testing/dynamodb.js'
import { expectFirstRecords } from './testing/first-records.js'

let server: TestDynamodb
let proxy: CuttableProxy
let table: string
const opened: TaskStore[] = []

beforeAll(async () => {
  server = await startTestDynamodb()
  proxy = await cuttableProxy('127.0.0.1', Number(new URL(server.endpoint).port))
})
afterAll(async () => {
  await proxy.close()
  await server.close()
})
beforeEach(async () => {
  table = await server.newTable()
})
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
  await server.dropTable(table)
})

async function open(options: Partial<DynamodbOptions> = {}) {
  const store = await dynamodb({ table, client: server.client, ...options })
  opened.push(store)
  return store
}

const items = async (): Promise<Item[]> => (await server.client.scan({ TableName: table })).Items ?? []
const itemOf = async (taskId: string) =>
  (await items()).find(({ pk }) => pk?.S === `task#${JSON.stringify(['local', taskId])}`)
const partitions = async () => (await items()).map(({ pk }) => pk?.S).sort()

/** The client with some of its calls replaced. */
const withCalls = (calls: Partial<DynamoDbClient>): DynamoDbClient =>
  new Proxy(server.client as DynamoDbClient, {
    get: (client, name: keyof DynamoDbClient) => calls[name] ?? client[name]?.bind(client),
  })

describe('a table that is refused', () => {
  it.each<[string, () => Partial<DynamodbOptions>, string, RegExp]>([
    ['one that is missing', () => ({ table: 'missing' }), 'misconfigured', /table missing is not there/],
    [
      'an endpoint where nobody listens',
      () => ({ client: new DynamoDB({ ...LOCAL, endpoint: 'http://127.0.0.1:1', maxAttempts: 1 }) }),
      'unavailable',
      /can’t be reached/,
    ],
    [
      'no region and no client',
      () => ({ client: undefined as never }),
      'misconfigured',
      /a region or a client/,
    ],
  ])('%s', async (_, options, code, message) => {
    await expect(open(options())).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  })

  it('one of another shape, or without an index', async () => {
    const names: string[] = []
    const shape = dynamodbTable('other-shape')
    const [hash] = shape.KeySchema
    const { GlobalSecondaryIndexes: _, ...flat } = shape
    const pk = shape.AttributeDefinitions.slice(0, 1)
    const tables = [
      { ...flat, KeySchema: [hash!], AttributeDefinitions: pk },
      { ...flat, TableName: 'no-index', AttributeDefinitions: shape.AttributeDefinitions.slice(0, 2) },
    ]
    for (const input of tables) {
      await server.client.createTable(input)
      names.push(input.TableName)
    }
    for (const name of names) {
      await expect(open({ table: name })).rejects.toMatchObject({
        code: 'misconfigured',
        message: expect.stringMatching(/has another shape than a task store needs/),
      })
      await server.dropTable(name)
    }
  })

  it('one of a newer Runbridge, and records of one', async () => {
    const store = await open()
    await store.create(taskRecord())
    const newer = { itemVersion: { N: '2' } }
    const item = (await itemOf('tsk_1')) as never as object
    await server.client.putItem({ TableName: table, Item: { ...item, ...newer } })
    await expect(store.get(taskRecord())).rejects.toMatchObject({ code: 'misconfigured' })
    const schema = { pk: { S: 'schema' }, sk: { S: 'schema' } }
    await server.client.putItem({ TableName: table, Item: { ...schema, ...newer } })
    await expect(open()).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringMatching(/items have version 2, this one knows up to 1/),
    })
  })
})

describe('items', () => {
  it('of version 1 are read and changed', async () => {
    const text = readFileSync(new URL('./fixtures/dynamodb-items-1.json', import.meta.url), 'utf8')
    for (const Item of JSON.parse(text) as Record<string, { S?: string; B?: string }>[]) {
      for (const value of Object.values(Item)) {
        if (value.B !== undefined) Object.assign(value, { B: Buffer.from(value.B, 'base64') })
      }
      await server.client.putItem({ TableName: table, Item: Item as never })
    }
    const store = await open()
    const records = await expectFirstRecords(store)
    expect(await store.byRun({ runKey: 'rb-1' })).toHaveLength(1)
    expect(await store.claim('local', 'n', 'tsk_a')).toBe('tsk_b')
    expect(await store.sweep(1041, 10)).toMatchObject({ removed: 1, due: [{ taskId: 'tsk_a' }] })
    expect(await store.claim('local', 'n', 'tsk_a')).toBe('tsk_a')
    expect(await store.update(records[1]!)).toBe('updated')
    expect(Buffer.from(await store.secret('request-state')).toString('hex')).toMatch(/^000102.*1e1f$/)
  })

  it('are removed by DynamoDB at the latest when no run can be alive, and after their end with their retention', async () => {
    const store = await open({ maxRunMs: 1_000_000 })
    await store.create(taskRecord({ retainMs: 5_000 }))
    expect((await itemOf('tsk_1'))?.ttl?.N).toBe(String(NOON / 1000 + 1_005))
    await store.update(taskRecord({ state: 'failed', endedAt: NOON + 7_000, retainMs: 5_000 }))
    expect((await itemOf('tsk_1'))?.ttl?.N).toBe(String(NOON / 1000 + 12))
    for (const item of await items()) {
      const lasting = ['schema'].includes(item.pk?.S ?? '')
      expect(item.ttl === undefined, item.pk?.S).toBe(lasting)
    }
  })

  it('leave nothing behind when their record is deleted or swept, names excepted, which wait for their time', async () => {
    const store = await open()
    await store.create(taskRecord({ taskId: 'a' }))
    await store.create(taskRecord({ taskId: 'b', endedAt: 1, retainMs: 1 }))
    await store.delete(taskRecord({ taskId: 'a' }))
    await store.sweep(NOON, 10)
    expect(await partitions()).toEqual(['schema'])
  })

  it('are in the sweeper’s index only while they need somebody or something of them', async () => {
    const store = await open()
    await store.create(taskRecord({ state: 'lost' }))
    expect((await itemOf('tsk_1'))?.due).toBeUndefined()
    await store.update(taskRecord({ state: 'running' }))
    expect((await itemOf('tsk_1'))?.due?.S).toBe('due')
    await store.update(taskRecord({ version: 2, state: 'lost' }))
    expect((await itemOf('tsk_1'))?.due).toBeUndefined()
  })

  it('have one place in the index of what is due for all looks of ten minutes', async () => {
    const store = await open()
    await store.create(taskRecord({ refreshAfter: NOON + 1 }))
    const inIndex = async () => {
      const { due, dueAt, refreshAfter } = (await itemOf('tsk_1')) ?? {}
      return [due?.S, Number(dueAt?.N), Number(refreshAfter?.N)]
    }
    const first = await inIndex()
    expect(first).toEqual(['due', NOON + IDLE_MS + IDLE_STEP_MS, NOON + IDLE_STEP_MS])
    await store.update(taskRecord({ refreshAfter: NOON + IDLE_STEP_MS }))
    expect(await inIndex()).toEqual(first)
    await store.update(taskRecord({ version: 2, refreshAfter: NOON + IDLE_STEP_MS + 1 }))
    expect(await inIndex()).toEqual(
      first.map((each) => (each === 'due' ? each : Number(each) + IDLE_STEP_MS)),
    )
    await store.update(taskRecord({ version: 3, state: 'starting', refreshAfter: NOON + 7 }))
    expect(await inIndex()).toEqual(['due', taskRecord().startDeadline, NOON + 7])
  })

  it('fit into one write unit while they run, with names as long as those of Step Functions', async () => {
    const states = 'arn:aws:states:eu-north-1:123456789012'
    const runKey = `rb-${'0123456789abcdef'.repeat(2)}`
    const run = { id: `${states}:execution:order-fulfilment:${runKey}`, attempt: 0 }
    const console =
      'https://eu-north-1.console.aws.amazon.com/states/home?region=eu-north-1#/v2/executions/details/'
    const record = taskRecord({
      taskId: 'tsk_7a2tRjWmZcHq5vKx9bNfLd3s',
      runKey,
      workflow: `${states}:stateMachine:order-fulfilment`,
      run,
      inputDigest: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
      marks: { lastEvent: 9, lines: [{ id: 7, visit: { name: 'Charge the card', enteredAt: NOON } }] },
      snapshot: {
        state: 'running',
        nativeState: 'RUNNING',
        progress: { message: 'Charge the card', done: 2 },
        gates: [],
        links: [{ title: 'Execution in the console', url: `${console}${run.id}` }],
        startedAt: NOON,
      },
      observedAt: NOON,
    })
    const store = await open()
    await store.create(record)
    const item = (await itemOf(record.taskId)) ?? {}
    const sizes = Object.entries(item).map(
      ([name, { S = '', N = '', B = [] }]) => Buffer.byteLength(`${name}${S}${N}`) + B.length,
    )
    expect(sizes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(1024)
    expect(await store.get(record)).toEqual(record)
  })

  it('are found by their run even if the record came to nothing, or the writer died before it', async () => {
    const failing = withCalls({ updateItem: () => Promise.reject(new Error('died')) })
    const [store, dying] = [await open(), await open({ client: failing })]
    const { run: _, ...unstarted } = taskRecord({ state: 'starting' })
    await store.create(unstarted)
    await expect(dying.update(taskRecord({ run: { id: 'run-9', attempt: 0 } }))).rejects.toThrow()
    expect(await store.byRun({ runId: 'run-9' })).toEqual([])
    expect(await store.update(taskRecord({ run: { id: 'run-9', attempt: 0 } }))).toBe('updated')
    expect(await store.byRun({ runId: 'run-9' })).toHaveLength(1)
  })
})

describe('reads', () => {
  it('of records and runs are strongly consistent, and only lists and sweeps ask an index', async () => {
    const eventual: string[] = []
    const note = (what: string, consistent: boolean | undefined) => {
      if (!consistent) eventual.push(what)
    }
    const client = withCalls({
      getItem(input) {
        note('get', input.ConsistentRead)
        return server.client.getItem(input)
      },
      batchGetItem(input) {
        note('batch', input.RequestItems[table]?.ConsistentRead)
        return server.client.batchGetItem(input)
      },
      query(input) {
        note(`query of ${input.IndexName}`, input.ConsistentRead)
        return server.client.query(input)
      },
    })
    const store = await open({ client })
    eventual.splice(0)
    await store.create(taskRecord())
    await store.create(taskRecord())
    await store.get(taskRecord())
    await store.update(taskRecord({ version: 7 }))
    await store.claim('local', 'n', 'tsk_1')
    await store.byRun({ runKey: 'rb-1' })
    await store.byRun({ runId: 'run-1' })
    await store.delete(taskRecord(), taskRecord({ version: 7 }))
    await store.secret('s')
    expect(eventual).toEqual([])
    await store.list('local', {}, 10)
    await store.sweep(NOON, 10)
    expect(new Set(eventual)).toEqual(new Set(['query of list', 'query of due']))
  })

  it('of open tasks do not read what has ended', async () => {
    const store = await open()
    for (let n = 0; n < 30; n += 1) {
      await store.create(taskRecord({ taskId: `t${n}`, state: n % 10 === 0 ? 'running' : 'succeeded' }))
    }
    let read = 0
    const client = withCalls({
      async batchGetItem(input) {
        read += input.RequestItems[table]?.Keys.length ?? 0
        return server.client.batchGetItem(input)
      },
    })
    const counting = await open({ client })
    const { records } = await counting.list('local', { states: ['running', 'waiting', 'queued'] }, 100)
    expect(records).toHaveLength(3)
    expect(read).toBe(3)
  })

  it('ask again for what a batch left out', async () => {
    const store = await open()
    for (let n = 0; n < 5; n += 1) await store.create(taskRecord({ taskId: `t${n}` }))
    const client = withCalls({
      async batchGetItem(input) {
        const keys = input.RequestItems[table]?.Keys ?? []
        const RequestItems = { [table]: { Keys: keys.slice(0, 2), ConsistentRead: true } }
        const answer = await server.client.batchGetItem({ RequestItems })
        return keys.length > 2 ? { ...answer, UnprocessedKeys: { [table]: { Keys: keys.slice(2) } } } : answer
      },
    })
    const halting = await open({ client })
    expect((await halting.list('local', {}, 10)).records).toHaveLength(5)
  })
})

describe('connections', () => {
  const client = () => new DynamoDB({ ...LOCAL, endpoint: `http://127.0.0.1:${proxy.port}`, maxAttempts: 3 })

  it('that lose the answer to a write don’t make its second sending a conflict', async () => {
    const store = await open({ client: client() })
    const sent: Record<string, () => Promise<unknown>> = {
      created: () => store.create(taskRecord({ taskId: 'x' })),
      updated: () => store.update(taskRecord({ taskId: 'x', note: 'mine' })),
    }
    for (const [outcome, act] of Object.entries(sent)) {
      // The pointers of a creation go before it: whichever answer is lost, nothing changes.
      proxy.loseAnswers(1)
      expect(await act()).toBe(outcome)
    }
    expect(await store.get({ owner: 'local', taskId: 'x' })).toMatchObject({ version: 2, note: 'mine' })
    proxy.loseAnswers(1)
    expect(await store.update(taskRecord({ taskId: 'x' }))).toBe('conflict')
  })

  it('that lose the answer to a write of a session neither', async () => {
    const { sessions } = await open({ client: client() })
    proxy.loseAnswers(1)
    expect(await sessions.create(sessionRecord())).toBe('created')
    proxy.loseAnswers(1)
    expect(await sessions.update(sessionRecord({ seenAt: 1 }))).toBe('updated')
    proxy.loseAnswers(1)
    expect(await sessions.update(sessionRecord())).toBe('conflict')
  })

  it('that lose the answer to each single request of a creation leave it created', async () => {
    for (const lost of ['putItem 1', 'putItem 2', 'putItem 3']) {
      let puts = 0
      const losing = withCalls({
        async putItem(input) {
          puts += 1
          const answer = await server.client.putItem(input)
          if (`putItem ${puts}` !== lost) return answer
          // As the SDK does it: the same request again.
          return server.client.putItem(input)
        },
      })
      const store = await open({ client: losing })
      puts = 0
      expect(await store.create(taskRecord({ taskId: lost }))).toBe('created')
      expect(await store.create(taskRecord({ taskId: lost }))).toBe('exists')
    }
  })

  it('that can’t be made are unavailable', async () => {
    const store = await open({ client: client() })
    proxy.open = false
    proxy.cut()
    await expect(store.get(taskRecord())).rejects.toMatchObject({ code: 'unavailable' })
    proxy.open = true
    expect(await store.get(taskRecord())).toBeUndefined()
  })

  it('of a client that was passed in stay open', async () => {
    const store = await open()
    await store.close()
    expect((await server.client.describeTable({ TableName: table })).Table?.TableName).toBe(table)
  })
})

describe('size', () => {
  const ended = (output: string, detail?: string) =>
    taskRecord({
      state: 'succeeded',
      snapshot: {
        state: 'succeeded',
        nativeState: 'SUCCEEDED',
        gates: [],
        output,
        links: [],
        ...(detail && { error: { code: 'x', message: 'm', detail } }),
      },
    })

  it('of any output that Step Functions passes fits, however little it can be compressed', async () => {
    const store = await open()
    await store.create(taskRecord())
    const output = randomBytes(196_600).toString('base64').slice(0, 262_142)
    expect(await store.update(ended(output))).toBe('updated')
    expect((await store.get(taskRecord()))?.snapshot?.output).toBe(output)
  })

  it('beyond one item costs the output, with a mark, and then most of the detail', async () => {
    const store = await open()
    await store.create(taskRecord())
    const large = randomBytes(600_000).toString('base64')
    expect(await store.update(ended(large, large))).toBe('updated')
    const { snapshot } = (await store.get(taskRecord()))!
    expect(snapshot?.output).toBeUndefined()
    expect(snapshot?.outputOmitted).toMatch(
      /^The output has 800002 bytes, more than one item .* read it in the engine\.$/,
    )
    expect(snapshot?.error?.detail).toMatch(/^\[cut: \d+ of 800000 bytes\]\n/)
    expect(snapshot?.error?.detail?.length).toBeLessThanOrEqual(50_000)
  })

  it('of what can’t be left out is an error, and nothing is written', async () => {
    const store = await open()
    await store.create(taskRecord())
    const marks = { seen: randomBytes(600_000).toString('base64') }
    await expect(store.update(taskRecord({ marks }))).rejects.toMatchObject({ code: 'too_large' })
    await expect(store.create(taskRecord({ owner: 'x'.repeat(2_100) }))).rejects.toMatchObject({
      code: 'too_large',
    })
    expect(await store.get(taskRecord())).toEqual(taskRecord())
  })
})

it('makes its table once, and describes what others have to make', async () => {
  const { Table } = await server.client.describeTable({ TableName: table })
  const wanted = dynamodbTable(table)
  expect(Table?.KeySchema).toEqual(wanted.KeySchema)
  const index = (name: string) => Table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === name)
  expect(index('list')?.Projection).toEqual({ ProjectionType: 'KEYS_ONLY' })
  expect(index('due')?.Projection).toEqual({ ProjectionType: 'INCLUDE', NonKeyAttributes: ['refreshAfter'] })
  expect(Table?.BillingModeSummary?.BillingMode).toBe('PAY_PER_REQUEST')
})
