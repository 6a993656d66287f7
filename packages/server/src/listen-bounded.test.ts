import { afterEach, expect, it, vi } from 'vitest'
import { type Listening, WIRES } from './testing/wires.js'
import { until, type World, world } from './testing/world.js'

const LISTEN_MS = 60_000
const TASKS = { tasks: true }
const END = { result: { resultType: 'complete' } }

let w: World
afterEach(() => w.close())

/** A server that stands still between requests, and whose streams may last a minute. */
async function open(listenMs: number | 'refused' = LISTEN_MS) {
  const http = listenMs === 'refused' ? {} : { listenMs: () => listenMs }
  w = await world({ server: { freezes: true }, http })
  const wire = await WIRES.http(w)
  const { result } = await wire.send('tools/call', { name: 'order', arguments: {} }, TASKS)
  const listen = (notifications: object = { taskIds: [result.taskId] }, sent = {}) =>
    wire.listen(notifications, { ...TASKS, ...sent })
  return { taskId: result.taskId as string, listen }
}

const readsIn = async (ms: number) => {
  const before = w.backend.callsOf('get').length
  await w.clock.advance(ms)
  return w.backend.callsOf('get').length - before
}

/** Everything that a stream says until it ends. */
async function rest(stream: Listening) {
  const said = []
  for (let message = await stream.next(); message; message = await stream.next()) said.push(message)
  return said
}

it('a stream ends gracefully when its time is over, nobody looks any more, and the next one goes on', async () => {
  const { taskId, listen } = await open()
  const run = await w.run()
  const stream = await listen(undefined, { id: 'mine' })
  expect((await stream.next()).method).toBe('notifications/subscriptions/acknowledged')
  expect((await stream.next()).params).toMatchObject({ taskId, status: 'working' })
  // A look jumps by one.
  await w.clock.advance(LISTEN_MS - 2)
  await w.set(run, () => w.backend.set(run.runKey, { progress: { message: 'the last news' } }))
  while (!(await stream.next()).params.statusMessage.includes('the last news'));
  const said = rest(stream)
  expect(await readsIn(1)).toBe(0)
  expect((await said).at(-1)).toMatchObject({ id: 'mine', ...END })
  expect(await readsIn(60_000)).toBe(0)
  w.backend.set(run.runKey, { state: 'succeeded', output: 'Done' })
  const next = rest(await listen())
  await w.clock.advance(5_000)
  expect((await next).slice(-2)).toMatchObject([{ params: { status: 'completed' } }, END])
})

it.each([
  ['of tasks', undefined],
  ['of other kinds', { toolsListChanged: true }],
  ['of what can not be agreed to', {}],
])('a stream %s whose time is over at once is acknowledged first', async (_name, notifications) => {
  const { listen } = await open(0)
  const said = rest(await listen(notifications, { id: 7 }))
  await w.clock.advance(0)
  const [first, ...more] = await said
  expect(first).toMatchObject({ method: 'notifications/subscriptions/acknowledged' })
  expect(more.at(-1)).toMatchObject({ id: 7, ...END })
})

it('a server that was not told for how long refuses, and names the switch', async () => {
  const { listen } = await open('refused')
  const { error } = await (await listen()).next()
  expect(error.message).toContain('`streaming`')
})

it.each([
  ['of the one that follows its task', () => w.store],
  ['of its own', () => w.server.service],
])('drain waits for a look %s that was under way when its client left', async (_name, looked) => {
  const { listen } = await open()
  const stream = await listen()
  await stream.next()
  await stream.next()
  const waiting: (() => void)[] = []
  const at = looked() as Pick<World['store'], 'get'>
  const look = at.get.bind(at)
  const slow = vi.spyOn(at, 'get').mockImplementation(async (key) => {
    await new Promise<void>((resolve) => void waiting.push(resolve))
    return look(key)
  })
  const run = await w.run()
  await w.set(run, () => w.backend.set(run.runKey, { state: 'running', progress: { message: 'on' } }))
  await until(() => waiting.length > 0)
  await stream.cancel()
  await until(async () => (await readsIn(1_000)) === 0)
  const drained = w.server.drain().then(() => 'drained')
  const waits = new Promise((resolve) => setImmediate(resolve, 'waits'))
  expect(await Promise.race([drained, waits])).toBe('waits')
  slow.mockImplementation(look)
  for (const answer of waiting) answer()
  expect(await drained).toBe('drained')
})
