import { afterEach, describe, expect, it } from 'vitest'
import { type Exchange, send, sendLegacy } from './testing/raw-client.js'
import { QUANTITY, type World, world } from './testing/world.js'

let w: World
const open = async (limits: object = {}) => {
  const idempotencyKey = ['quantity']
  const tool = { inputSchema: QUANTITY, idempotencyKey, holdMs: 0 }
  w = await world({
    tools: [
      { name: 'order', ...tool },
      { name: 'confirmed', ...tool, confirm: { message: 'Order {quantity}?' } },
      { name: 'asked', ...tool, askFor: { quantity: { message: 'How many?' } } },
    ],
    server: { limits: { sweepMs: 1e12, ...limits } },
  })
}
afterEach(() => w.close())

const TASKS = { tasks: true, elicitation: true }
const call = (name: string, args: object = { quantity: 1 }, sent: object = TASKS, more: object = {}) =>
  send(w.http.url, 'tools/call', { name, arguments: args, ...more }, sent)
const legacy = (name: string, args: object) => sendLegacy(w.http.url, 'tools/call', { name, arguments: args })
const taskIdIn = ({ result }: Exchange): string =>
  result.taskId ?? /tsk_[\w-]+/.exec(result.content[0].text)?.[0] ?? ''
const accept = (requestState: string, inputs: Record<string, object>) => ({
  requestState,
  inputResponses: Object.fromEntries(
    Object.entries(inputs).map(([key, content]) => [key, { action: 'accept', content }]),
  ),
})

describe('equal calls get one task', () => {
  it('of clients with tasks, without tasks, and of the older era', async () => {
    await open()
    const answers = [
      await legacy('order', { quantity: 1 }),
      await call('order'),
      await call('order', { quantity: 1 }, {}),
      await call('order'),
    ]
    expect(new Set(answers.map(taskIdIn)).size).toBe(1)
    expect(w.backend.executions).toHaveLength(1)
    const { result } = await send(w.http.url, 'tasks/get', { taskId: taskIdIn(answers[1]!) }, TASKS)
    expect(result.status).toBe('working')
    await call('order', { quantity: 2 })
    expect(w.backend.executions).toHaveLength(2)
  })

  it('of confirmed calls, each of which was confirmed, and of their replays', async () => {
    await open()
    const confirm = async () =>
      accept((await call('confirmed')).result.requestState, { confirm: { confirm: true } })
    const [one, two] = [await confirm(), await confirm()]
    const answers = [one, two, one, two].map((more) => call('confirmed', { quantity: 1 }, TASKS, more))
    const ids = (await Promise.all(answers)).map(taskIdIn)
    expect(new Set(ids).size).toBe(1)
    expect(w.backend.executions).toHaveLength(1)
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded' }))
    // The replays of both find what they were answered with; a new call starts anew.
    for (const more of [one, two]) {
      expect(taskIdIn(await call('confirmed', { quantity: 1 }, TASKS, more))).toBe(ids[0])
    }
    expect(taskIdIn(await call('confirmed', { quantity: 1 }, TASKS, await confirm()))).not.toBe(ids[0])
    expect(w.backend.executions).toHaveLength(2)
  })

  it('also where as many tasks are open as may be, which keeps others from starting', async () => {
    await open({ maxOpenTasks: 1 })
    const confirm = accept((await call('confirmed')).result.requestState, { confirm: { confirm: true } })
    const first = taskIdIn(await call('confirmed', { quantity: 1 }, TASKS, confirm))
    for (const sent of [TASKS, {}])
      expect(taskIdIn(await call('confirmed', { quantity: 1 }, { ...TASKS, ...sent }, confirm))).toBe(first)
    const other = accept((await call('confirmed')).result.requestState, { confirm: { confirm: true } })
    expect(taskIdIn(await call('confirmed', { quantity: 1 }, TASKS, other))).toBe(first)
    expect((await call('order')).result.content[0].text).toContain('1 open tasks')
    expect(w.backend.executions).toHaveLength(1)
  })

  it('whose values a person gave', async () => {
    await open()
    const ask = async (quantity: number) => {
      const { requestState } = (await call('asked', {})).result
      return taskIdIn(await call('asked', {}, TASKS, accept(requestState, { quantity: { quantity } })))
    }
    const [one, again, two] = [await ask(1), await ask(1), await ask(2)]
    expect(again).toBe(one)
    expect(two).not.toBe(one)
    expect(taskIdIn(await call('asked', { quantity: 2 }))).toBe(two)
    expect(w.backend.executions).toHaveLength(2)
  })
})
