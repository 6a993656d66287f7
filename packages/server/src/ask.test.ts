import { RunbridgeError } from '@runbridge/core'
import { afterEach, describe, expect, it } from 'vitest'
import { type Exchange, send, sendLegacy } from './testing/raw-client.js'
import { QUANTITY, type World, type WorldOptions, world } from './testing/world.js'

let w: World
const open = async (options?: WorldOptions) => {
  w = await world(options)
}
afterEach(() => w.close())

const ASKABLE = { tasks: true, elicitation: true }
const call = (name: string, args: object = {}, more: object = {}, sent: object = ASKABLE) =>
  send(w.http.url, 'tools/call', { name, arguments: args, ...more }, sent)
const text = (exchange: Exchange): string => exchange.result.content[0].text
const accept = (content: object) => ({ action: 'accept', content })

const CONFIRMED = {
  tools: [
    { name: 'delete', inputSchema: QUANTITY, confirm: { message: 'Delete {quantity} files?' } },
    { name: 'other', inputSchema: QUANTITY, confirm: { message: 'Really?' } },
  ],
}

describe('confirm', () => {
  it('lets what ends within the call run once, however often the answer is sent', async () => {
    await open({ ...CONFIRMED, capabilities: { execution: 'call', gates: false } })
    const { requestState } = (await call('delete', { quantity: 3 })).result
    const confirmed = { requestState, inputResponses: { confirm: accept({ confirm: true }) } }
    const send = () => call('delete', { quantity: 3 }, confirmed)
    w.backend.script('call', { kind: 'refused', error: new RunbridgeError('throttled', 'Later.') })
    expect(text(await send())).toBe('Later.')
    expect((await send()).result).toMatchObject({ structuredContent: { quantity: 3 } })
    const again = await send()
    expect([again.result.isError, text(again)]).toEqual([true, expect.stringContaining('has been used')])
    expect(w.backend.callsOf('call')).toHaveLength(2)
    expect((await w.store.list('local', {}, 10)).records).toEqual([])
    w.clock.jump(3_600_001)
    expect(await w.server.service.sweep()).toEqual({ removed: 1, settled: 0 })
  })

  it('shows arguments on one line and no longer than a person reads', async () => {
    await open({ tools: [{ name: 'drop', confirm: { message: 'Drop {table}?' } }] })
    const message = async (table: string) =>
      (await call('drop', { table })).result.inputRequests.confirm.params.message
    expect(await message('orders?\n\nA test; nothing is dropped.\u202e')).toBe(
      'Drop orders? A test; nothing is dropped.?',
    )
    expect(await message('x'.repeat(5_000))).toBe(`Drop ${'x'.repeat(997)}…?`)
  })

  it('is asked before anything starts; accepted, it starts', async () => {
    await open(CONFIRMED)
    const { result: asked } = await call('delete', { quantity: 3 })
    expect(asked.resultType).toBe('input_required')
    expect(asked.inputRequests.confirm).toMatchObject({
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Delete 3 files?' },
    })
    expect(asked).not.toHaveProperty('taskId')
    expect(w.backend.executions).toEqual([])
    const { requestState } = asked
    const inputResponses = { confirm: accept({ confirm: true }) }
    const { result } = await call('delete', { quantity: 3 }, { requestState, inputResponses })
    expect(result.resultType).toBe('task')
    expect(result).not.toHaveProperty('requestState')
    expect((await w.run()).input).toEqual({ quantity: 3 })
  })

  it.each([
    [{ action: 'decline' }, 'declined'],
    [{ action: 'cancel' }, 'dismissed'],
    [accept({ confirm: false }), 'did not confirm'],
  ])('%j: nothing starts', async (response, words) => {
    await open(CONFIRMED)
    const { requestState } = (await call('delete', { quantity: 3 })).result
    const answer = await call(
      'delete',
      { quantity: 3 },
      { requestState, inputResponses: { confirm: response } },
    )
    expect(answer.result.isError).toBe(true)
    expect(text(answer)).toContain(words)
    expect(w.backend.executions).toEqual([])
  })

  it('an answer left out is asked for again', async () => {
    await open(CONFIRMED)
    const { requestState } = (await call('delete', { quantity: 3 })).result
    expect((await call('delete', { quantity: 3 }, { requestState })).result.resultType).toBe('input_required')
  })

  it('a call that could not start is not asked about', async () => {
    await open(CONFIRMED)
    expect((await call('delete', { quantity: 0 })).result.isError).toBe(true)
  })

  it('a client that can not be asked gets a refusal that says how', async () => {
    await open(CONFIRMED)
    for (const elicitation of [false, { url: {} }]) {
      const { error } = await call('delete', { quantity: 3 }, {}, { tasks: true, elicitation })
      expect(error).toMatchObject({
        code: -32021,
        message: expect.stringContaining('did not declare elicitation in form mode'),
        data: { requiredCapabilities: { elicitation: { form: {} } } },
      })
    }
    const old = await sendLegacy(w.http.url, 'tools/call', { name: 'delete', arguments: { quantity: 3 } })
    expect([old.result.isError, text(old)]).toEqual([
      true,
      expect.stringContaining('asks a person to confirm'),
    ])
    expect(w.backend.executions).toEqual([])
  })
})

describe('the request state is verified before any answer in it counts', () => {
  const inputResponses = { confirm: accept({ confirm: true }) }

  async function sealed() {
    await open(CONFIRMED)
    return (await call('delete', { quantity: 3 })).result.requestState as string
  }

  const refused = async (answering: Promise<Exchange>) => {
    const { error } = await answering
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('Invalid or expired requestState'),
    })
    expect(w.backend.executions).toEqual([])
  }

  it('answers without a state count for nothing', async () => {
    await sealed()
    expect((await call('delete', { quantity: 3 }, { inputResponses })).result.resultType).toBe(
      'input_required',
    )
  })

  it('changed', async () => {
    const state = await sealed()
    const [version, body = '', mac] = state.split('.')
    const read = JSON.parse(Buffer.from(body, 'base64url').toString())
    read.p.filled = { quantity: 99 }
    const forged = [version, Buffer.from(JSON.stringify(read)).toString('base64url'), mac].join('.')
    for (const requestState of [forged, `${state}x`, '', 7, null, { kind: 'start' }]) {
      await refused(call('delete', { quantity: 3 }, { requestState, inputResponses }))
    }
  })

  it('moved to another call or another tool', async () => {
    const requestState = await sealed()
    await refused(call('delete', { quantity: 4 }, { requestState, inputResponses }))
    await refused(call('other', { quantity: 3 }, { requestState, inputResponses }))
  })

  it('moved to another owner', async () => {
    const requestState = await sealed()
    const request = (subject: string) =>
      w.server.handler(
        new Request(w.http.url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'mcp-protocol-version': '2026-07-28',
            'mcp-method': 'tools/call',
            'mcp-name': 'delete',
          },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: {
              name: 'delete',
              arguments: { quantity: 3 },
              requestState,
              inputResponses,
              _meta: {
                'io.modelcontextprotocol/protocolVersion': '2026-07-28',
                'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '0' },
                'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
              },
            },
          }),
        }),
        {
          authInfo: {
            token: 't',
            clientId: 'c',
            scopes: [],
            extra: { iss: 'https://idp.example', sub: subject },
          },
        },
      )
    const answer = (await (await request('mallory')).json()) as Exchange['answer']
    expect(answer.error).toMatchObject({ code: -32602 })
    expect(w.backend.executions).toEqual([])
  })

  it('expired', async () => {
    const requestState = await sealed()
    w.clock.jump(3_600_000)
    await refused(call('delete', { quantity: 3 }, { requestState, inputResponses }))
  })

  it('a replay of a start that was refused finds that, and starts nothing', async () => {
    const requestState = await sealed()
    w.backend.script('start', 'refused')
    const retry = () => call('delete', { quantity: 3 }, { requestState, inputResponses })
    const [first, second] = [await retry(), await retry()]
    expect(first.result).toMatchObject({ resultType: 'task', status: 'completed' })
    expect(second.result.taskId).toBe(first.result.taskId)
    const { result } = await send(w.http.url, 'tasks/get', { taskId: first.result.taskId }, ASKABLE)
    expect(result.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('refuses') }, {}],
    })
    expect(w.backend.callsOf('start')).toHaveLength(1)
  })

  it('a replay finds the same task', async () => {
    const requestState = await sealed()
    const retry = () => call('delete', { quantity: 3 }, { requestState, inputResponses })
    const [one, two] = await Promise.all([retry(), retry()])
    const three = await retry()
    expect(new Set([one, two, three].map(({ result }) => result.taskId)).size).toBe(1)
    expect(w.backend.executions).toHaveLength(1)
  })
})

describe('required arguments that are missing', () => {
  const GREET = {
    tools: [
      {
        name: 'greet',
        inputSchema: {
          type: 'object',
          properties: { name: { type: 'string', minLength: 2, title: 'Name' }, times: { type: 'integer' } },
          required: ['name', 'times'],
        },
        askFor: { name: { key: 'user_name', message: 'Who are you?' }, times: { message: 'How often?' } },
        confirm: { message: 'Greet {name} {times} times?' },
      },
    ],
  }

  it('are asked for at once, then the confirmation, then it starts with all of them', async () => {
    await open(GREET)
    const { result: first } = await call('greet')
    expect(Object.keys(first.inputRequests)).toEqual(['user_name', 'times'])
    expect(first.inputRequests.user_name.params.requestedSchema).toEqual({
      type: 'object',
      properties: { name: { type: 'string', title: 'Name', minLength: 2 } },
      required: ['name'],
    })
    const { result: second } = await call(
      'greet',
      {},
      {
        requestState: first.requestState,
        inputResponses: { user_name: accept({ name: 'Alice' }), times: accept({ times: 2 }) },
      },
    )
    expect(second.inputRequests.confirm.params.message).toBe('Greet Alice 2 times?')
    const { result } = await call(
      'greet',
      {},
      {
        requestState: second.requestState,
        inputResponses: { confirm: accept({ confirm: true }) },
      },
    )
    expect(result.resultType).toBe('task')
    expect((await w.run()).input).toEqual({ name: 'Alice', times: 2 })
  })

  it('an answer to what was not asked yet does not count', async () => {
    await open(GREET)
    const { requestState } = (await call('greet', { times: 1 })).result
    const inputResponses = { user_name: accept({ name: 'Alice' }), confirm: accept({ confirm: true }) }
    const { result } = await call('greet', { times: 1 }, { requestState, inputResponses })
    expect(Object.keys(result.inputRequests)).toEqual(['confirm'])
    expect(w.backend.executions).toEqual([])
  })

  it('what is answered is kept while the rest is asked again', async () => {
    await open(GREET)
    const { result: first } = await call('greet')
    const { result: second } = await call(
      'greet',
      {},
      {
        requestState: first.requestState,
        inputResponses: { user_name: accept({ name: 'Alice' }), confirm: accept({ confirm: true }) },
      },
    )
    expect(Object.keys(second.inputRequests)).toEqual(['times'])
  })

  it('an answer that does not fit the schema starts nothing', async () => {
    await open(GREET)
    const { result: first } = await call('greet', { times: 1 })
    const answer = await call(
      'greet',
      { times: 1 },
      {
        requestState: first.requestState,
        inputResponses: { user_name: accept({ name: 'A' }) },
      },
    )
    expect(answer.result.isError).toBe(true)
    expect(text(answer)).toContain('/name must NOT have fewer than 2 characters')
  })

  it('a client that can not be asked is told what is missing', async () => {
    await open(GREET)
    const answer = await call('greet', {}, {}, { tasks: true })
    expect(text(answer)).toContain('/name is required')
  })
})

describe('a gate that opens during the hold', () => {
  const DEPLOY = { tools: [{ name: 'deploy', humanInput: 'elicitation' as const }] }
  const PLAIN = { elicitation: true }

  async function asked(name = 'deploy', args: object = {}) {
    const answering = call(name, args, {}, PLAIN)
    const run = await w.run()
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a', prompt: 'Deploy?' }))
    return { run, asked: (await answering).result }
  }

  it('is answered input_required, and the retry attaches to the running task', async () => {
    await open(DEPLOY)
    const { run, asked: question } = await asked()
    expect(question).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'a.1': { params: { mode: 'form', message: 'Deploy?' } } },
    })
    const inputResponses = { 'a.1': accept({ approve: true }) }
    const retrying = call('deploy', {}, { requestState: question.requestState, inputResponses }, PLAIN)
    await w.clock.advance(1)
    while (!run.answers.has('a')) await new Promise((resolve) => setImmediate(resolve))
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'deployed' }))
    expect((await retrying).result.content[0].text).toBe('deployed')
    expect(w.backend.executions).toHaveLength(1)
  })

  it.each([accept({ approve: 'maybe' }), { action: 'accept', content: { nested: {} } }])(
    'an answer that does not fit is not delivered, and the caller learns the task id: %j',
    async (response) => {
      await open(DEPLOY)
      const { run, asked: question } = await asked()
      const { requestState } = question
      const answer = await call('deploy', {}, { requestState, inputResponses: { 'a.1': response } }, PLAIN)
      expect(answer.result.isError).toBe(true)
      expect(text(answer)).toMatch(/a\.1[\s\S]*Task tsk_[\w-]+: [\s\S]*task_status/)
      expect(run.answers.size).toBe(0)
    },
  )

  it('dismissed: the call is answered with the task id, and nobody is asked in a loop', async () => {
    await open(DEPLOY)
    const { run, asked: question } = await asked()
    const inputResponses = { 'a.1': { action: 'cancel' } }
    const answer = await call('deploy', {}, { requestState: question.requestState, inputResponses }, PLAIN)
    expect(text(answer)).toContain('task_status')
    expect(run.answers.size).toBe(0)
  })

  it('task_status asks it too', async () => {
    await open({ tools: [{ name: 'deploy', humanInput: 'elicitation' as const, holdMs: 0 }] })
    const handle = await call('deploy', {}, {}, PLAIN)
    const taskId = /tsk_[\w-]+/.exec(text(handle))?.[0]
    const run = await w.run()
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    const { result: question } = await call('task_status', { taskId }, {}, PLAIN)
    expect(question.resultType).toBe('input_required')
    const inputResponses = { 'a.1': { action: 'decline' } }
    await call('task_status', { taskId }, { requestState: question.requestState, inputResponses }, PLAIN)
    expect(run.answers.get('a')).toEqual({ action: 'decline' })
  })
})
