import { afterEach, describe, expect, it } from 'vitest'
import { message } from './testing/raw-client.js'
import { type RawStdio, rawStdio } from './testing/raw-stdio.js'
import { until, type World, type WorldOptions, world } from './testing/world.js'

let w: World
let host: RawStdio
const open = async (options?: WorldOptions) => {
  w = await world(options)
  host = rawStdio(w.server)
}
afterEach(() => w.close())

const TASKS = { tasks: true, elicitation: true }
const call = (id: number, name: string, args: object = {}, sent: object = TASKS) =>
  message(id, 'tools/call', { name, arguments: args }, sent)

describe('a host of 2026-07-28 over stdio', () => {
  it('gets the same task as over HTTP: one owner, one store', async () => {
    await open()
    const { result: handle } = await host.request(call(1, 'order'))
    expect(handle).toMatchObject({ resultType: 'task', status: 'working' })
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'Done' }))
    const { result } = await host.request(message(2, 'tasks/get', { taskId: handle.taskId }, TASKS))
    expect(result).toMatchObject({ status: 'completed', result: { content: [{ text: 'Done' }, {}] } })
    expect(await w.store.get({ owner: 'local', taskId: handle.taskId })).toBeDefined()
  })

  it('unknown methods are -32601, and no request ever comes from the server', async () => {
    await open({ tools: [{ name: 'order', humanInput: 'elicitation' }] })
    for (const method of ['tasks/list', 'tasks/result', 'prompts/list']) {
      expect((await host.request(message(method, method, {}, TASKS))).error.code).toBe(-32601)
    }
    await host.request(call(2, 'order'))
    const run = await w.run()
    await w.set(run, () => void w.backend.openGate(run.runKey, { id: 'g', prompt: 'Ship it?' }))
    await host.request(message(3, 'tools/list', {}, TASKS))
    expect(host.seen.filter((each) => 'method' in each && each.id !== undefined)).toEqual([])
  })

  it('a cancelled call ends its waiting without an answer; the run goes on', async () => {
    await open()
    host.write(call(1, 'order', {}, {}))
    const run = await w.run()
    host.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await host.request(message(2, 'tools/list', {}, TASKS))
    host.input.end()
    await host.stdio.ended
    await host.stdio.close()
    expect(host.seen.map(({ id }) => id)).toEqual([2])
    expect(run.cancels).toEqual([])
  })
})

describe('a host of the 2025 revisions over stdio', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'old', version: '0' },
    },
  }

  it('gets the plain path: tools, the hold, progress, and the three tools to go on with', async () => {
    await open({ tools: [{ name: 'order', holdMs: 20_000 }] })
    expect((await host.request(initialize)).result.protocolVersion).toBe('2025-11-25')
    host.write({ jsonrpc: '2.0', method: 'notifications/initialized' })
    const { result: list } = await host.request({ jsonrpc: '2.0', id: 1, method: 'tools/list' } as never)
    expect(list.tools.map(({ name }: { name: string }) => name)).toEqual([
      'order',
      'task_status',
      'task_answer',
      'task_cancel',
      'task_list',
    ])
    const held = host.request({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'order', arguments: {}, _meta: { progressToken: 'p' } },
    } as never)
    let answered = false
    void held.then(() => {
      answered = true
    })
    await until(async () => {
      await w.clock.advance(5_000)
      return answered
    })
    const told = (await held).result.content[0].text
    const taskId = /tsk_[\w-]+/.exec(told)?.[0]
    expect(host.seen.some(({ method }) => method === 'notifications/progress')).toBe(true)
    const waited = host.request({
      jsonrpc: '2.0',
      id: 3,
      method: 'tools/call',
      params: { name: 'task_status', arguments: { taskId } },
    } as never)
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'Done' }))
    expect((await waited).result.content[0].text).toBe('Done')
  })

  it('subscriptions/listen is an unknown method', async () => {
    await open()
    await host.request(initialize)
    const params = { notifications: { taskIds: ['tsk_1'] } }
    const listen = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }
    expect((await host.request(listen as never)).error.code).toBe(-32601)
  })
})

describe('the end of stdio', () => {
  it('at the end of the input, what has arrived is answered and what is held is told', async () => {
    await open({ tools: [{ name: 'order', holdMs: 45_000 }] })
    host.write(call(1, 'order', {}, {}))
    host.write(message(2, 'tools/list', {}, TASKS))
    host.input.end()
    await host.stdio.ended
    await host.stdio.close()
    const byId = new Map(host.seen.map((each) => [each.id, each]))
    expect([...byId.keys()].sort()).toEqual([1, 2])
    expect(byId.get(1).result.content[0].text).toContain('task_status')
    expect((await w.run()).cancels).toEqual([])
  })

  it('a start under way is finished before it closes', async () => {
    await open()
    const start = w.backend.hold('start')
    host.write(call(1, 'order'))
    await start.arrived
    const closed = host.stdio.close()
    start.release()
    await closed
    expect(host.seen).toMatchObject([{ id: 1, result: { resultType: 'task' } }])
  })

  it('reads nothing more once it closes, and closes once', async () => {
    await open()
    await host.request(message(1, 'tools/list', {}, TASKS))
    const closed = host.stdio.close()
    expect(host.stdio.close()).toBe(closed)
    host.write(call(2, 'order'))
    await closed
    expect(host.seen.map(({ id }) => id)).toEqual([1])
    expect(w.backend.executions).toEqual([])
  })

  it('an output that nobody reads any more ends it', async () => {
    await open()
    await host.request(message(1, 'tools/list', {}, TASKS))
    host.output.destroy(new Error('EPIPE'))
    await host.stdio.ended
    await host.stdio.close()
  })

  it('a message larger than the limit ends it', async () => {
    w = await world({ server: { limits: { sweepMs: 1e12, maxBodyBytes: 1_000 } } })
    host = rawStdio(w.server)
    host.input.write(JSON.stringify(call(1, 'order', { text: 'x'.repeat(2_000) })))
    await host.stdio.ended
    expect(w.backend.executions).toEqual([])
  })

  it('two hosts of one server do not see each other’s answers', async () => {
    await open()
    const other = rawStdio(w.server)
    const list = message(1, 'tools/list', {}, TASKS)
    await Promise.all([host.request(list), other.request(list), other.request({ ...list, id: 2 })])
    expect([host.seen.length, other.seen.length]).toEqual([1, 2])
  })
})
