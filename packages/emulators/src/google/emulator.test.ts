import { v1 } from '@google-cloud/workflows'
import { credentials } from '@grpc/grpc-js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type GoogleWorkflowsEmulatorOptions, startGoogleWorkflowsEmulator } from './emulator.js'

/** An emulator and Google's own client of it on gRPC, for one test. */
async function emulated(options: GoogleWorkflowsEmulatorOptions = {}) {
  const emulator = await startGoogleWorkflowsEmulator(options)
  const client = new v1.ExecutionsClient({
    apiEndpoint: '127.0.0.1',
    port: emulator.port,
    sslCreds: credentials.createInsecure(),
  })
  onTestFinished(async () => {
    await client.close()
    await emulator.close()
  })
  const rest = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${emulator.url}/v1/${path}`, init)
    // biome-ignore lint/suspicious/noExplicitAny: whatever Google's JSON is, the assertions say
    return { status: response.status, json: (await response.json()) as any }
  }
  const control = async (path: string, body?: object) => {
    const init = body && { method: 'POST', body: JSON.stringify(body) }
    // biome-ignore lint/suspicious/noExplicitAny: as above
    return (await fetch(`${emulator.url}/_emulator/${path}`, init)).json() as Promise<any>
  }
  const failure = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error) => error,
    )
  return { emulator, client, rest, control, failure }
}

const echo = { steps: [{ step: 'echo', return: '$input' }] }
const sleep = { steps: [{ step: 'sleep', ms: 86_400_000 }] }

describe('executions', () => {
  it('are the same on both surfaces', async () => {
    const { emulator, client, rest } = await emulated({ workflows: { echo } })
    const parent = emulator.workflowName('echo')
    const execution = { argument: '{"a":1}', labels: { team: 'ops' } }
    const [created] = await client.createExecution({ parent, execution })
    await emulator.ended(created.name!)
    const [shown] = await client.getExecution({ name: created.name! })
    const { json } = await rest(created.name!)
    expect(shown).toMatchObject({ state: 'SUCCEEDED', result: '{"a":1}', labels: { team: 'ops' } })
    expect(json).toMatchObject({ name: created.name, state: 'SUCCEEDED', result: '{"a":1}' })
    expect(Number(shown.startTime?.seconds)).toBe(Math.floor(Date.parse(json.startTime) / 1000))
  })

  it('are queued beyond the quota, in the order in which they came', async () => {
    const { emulator, client } = await emulated({ maxConcurrent: 1, workflows: { sleep } })
    const names = [1, 2, 3].map(() => emulator.execute('sleep'))
    const states = () => emulator.executions().map(({ state }) => state)
    expect(states()).toEqual(['ACTIVE', 'QUEUED', 'QUEUED'])
    await client.cancelExecution({ name: names[0]! })
    expect(states()).toEqual(['CANCELLED', 'ACTIVE', 'QUEUED'])
  })

  it('fail with the payload, and a trace that begins with the innermost step', async () => {
    const steps = [{ step: 'pay', routine: 'charge', steps: [{ step: 'call', raise: { code: 7 } }] }]
    const { emulator, client } = await emulated({ workflows: { fails: { steps } } })
    const name = emulator.execute('fails')
    await emulator.ended(name)
    const [{ state, error }] = await client.getExecution({ name })
    expect([state, error?.payload]).toEqual(['FAILED', '{"code":7}'])
    expect(error?.stackTrace?.elements?.map(({ routine, step }) => `${routine}.${step}`)).toEqual([
      'charge.call',
      'main.pay',
    ])
  })

  it('are refused as Google refuses them', async () => {
    const { emulator, client, failure } = await emulated({ workflows: { echo } })
    const parent = emulator.workflowName('echo')
    const start = (execution: object, to = parent) =>
      failure(client.createExecution({ parent: to, execution }))
    expect((await start({ argument: '{' })).code).toBe(3)
    expect((await start({ argument: JSON.stringify('x'.repeat(32_768)) })).code).toBe(3)
    expect((await start({ labels: { Team: 'x' } })).code).toBe(3)
    expect((await start({}, emulator.workflowName('other'))).code).toBe(5)
    expect((await failure(client.cancelExecution({ name: `${parent}/executions/none` }))).code).toBe(5)
    const name = emulator.execute('echo')
    await emulator.ended(name)
    expect((await failure(client.cancelExecution({ name }))).code).toBe(9)
  })

  it('are listed newest first, by label, in pages', async () => {
    const { emulator, client } = await emulated({ workflows: { echo } })
    const parent = emulator.workflowName('echo')
    for (const key of ['a', 'b', 'a']) {
      await client.createExecution({ parent, execution: { labels: { key } } })
    }
    const keys = async (request: object) => {
      const [page, , { nextPageToken }] = (await client.listExecutions(
        { parent, view: 'FULL', ...request },
        { autoPaginate: false },
      )) as unknown as [{ labels: { key: string } }[], unknown, { nextPageToken: string }]
      return { keys: page.map(({ labels }) => labels.key), nextPageToken }
    }
    expect((await keys({})).keys).toEqual(['a', 'b', 'a'])
    expect((await keys({ filter: 'labels.key="b"' })).keys).toEqual(['b'])
    const first = await keys({ pageSize: 2 })
    expect(first.keys).toEqual(['a', 'b'])
    expect((await keys({ pageSize: 2, pageToken: first.nextPageToken })).keys).toEqual(['a'])
    await expect(keys({ filter: 'argument="x" OR y' })).rejects.toMatchObject({ code: 3 })
  })
})

describe('callbacks', () => {
  const steps = [
    { step: 'create', createCallback: 'details' },
    { step: 'first', awaitCallback: 'details', result: 'one' },
    { step: 'second', awaitCallback: 'details', result: 'two' },
    { step: 'done', return: ['$one.http_request.body', '$two.http_request.body'] },
  ]

  it('are listed with their waiters and keep what nobody waits for', async () => {
    const { emulator, rest } = await emulated({
      workflows: { asks: { steps, historyLevel: 'EXECUTION_HISTORY_DETAILED' } },
    })
    const name = emulator.execute('asks')
    const listed = async () => (await rest(`${name}/callbacks`)).json.callbacks
    while ((await listed())[0]?.waiters !== '1');
    const url = emulator.callbacks()[0]!.url
    expect((await rest(url.split('/v1/')[1]!, { method: 'PUT' })).status).toBe(400)
    for (const body of ['1', '2']) await fetch(url, { method: 'POST', body })
    await emulator.ended(name)
    expect((await rest(name)).json.result).toBe('[1,2]')
    const { stepEntries } = (await rest(`${name}/stepEntries`)).json
    expect(stepEntries.map((entry: { step: string; state: string }) => [entry.step, entry.state])).toEqual(
      ['create', 'first', 'second', 'done'].map((step) => [step, 'STATE_SUCCEEDED']),
    )
    expect(stepEntries[1].variableData.variables.one.http_request.body).toBe(1)
    expect((await rest(url.split('/v1/')[1]!, { method: 'POST' })).status).toBe(404)
  })
})

describe('faults', () => {
  it('act on the calls they are for, on both surfaces, and can be set by another process', async () => {
    const { emulator, client, rest, control, failure } = await emulated({ workflows: { echo } })
    const parent = emulator.workflowName('echo')
    await control('faults', { operation: 'GetWorkflow', next: [{ kind: 'denied' }] })
    expect(await rest(parent)).toMatchObject({
      status: 403,
      json: { error: { status: 'PERMISSION_DENIED' } },
    })
    expect((await rest(parent)).status).toBe(200)
    emulator.faults.next('CreateExecution', { kind: 'denied' }, { kind: 'dropAfterExecuting' })
    const denied = await failure(client.createExecution({ parent, execution: {} }))
    expect(denied.errorInfoMetadata).toEqual({ permission: 'workflows.executions.create' })
    expect((await failure(client.createExecution({ parent, execution: {} }))).code).toBe(14)
    expect(emulator.executions()).toHaveLength(1)
    expect((await control('calls')).starts.map(({ fault }: { fault: string }) => fault)).toEqual([
      'denied',
      'dropAfterExecuting',
    ])
    expect(await control('faults', { operation: 'Nothing', next: [] })).toHaveProperty('message')
  })

  it('hide a new execution from lists, as a lagging index does', async () => {
    const { emulator, client } = await emulated({ workflows: { echo } })
    const parent = emulator.workflowName('echo')
    emulator.faults.next('CreateExecution', { kind: 'hide', times: 2 })
    await client.createExecution({ parent, execution: {} })
    const count = async () => (await client.listExecutions({ parent }))[0].length
    expect([await count(), await count(), await count()]).toEqual([0, 0, 1])
  })

  it('forget an execution', async () => {
    const { emulator, client, failure } = await emulated({ workflows: { sleep } })
    const name = emulator.execute('sleep')
    emulator.faults.forget(name)
    expect((await failure(client.getExecution({ name }))).code).toBe(5)
  })
})

it('answers only to loopback names', async () => {
  const { emulator } = await emulated()
  const { request } = await import('node:http')
  const status = await new Promise((resolve) => {
    request(`${emulator.url}/_emulator/calls`, { headers: { host: 'evil.example' } }, (answer) =>
      resolve(answer.statusCode),
    ).end()
  })
  expect(status).toBe(403)
})
