import { afterEach, describe, expect, it, vi } from 'vitest'
import { bearerAuth } from './auth/bearer-auth.js'
import { createToken } from './auth/static-tokens.js'
import { httpLegacy } from './testing/legacy-client.js'
import { send } from './testing/raw-client.js'
import { until, type World, type WorldOptions, world } from './testing/world.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
type Any = any

/** How long the token counts, in ms: by a clock of the system that stands still. */
const LIFE_MS = 60_000
const SOON_MS = LIFE_MS - 1_000

let w: World
let token: string
afterEach(async () => {
  vi.useRealTimers()
  await w.close()
})

async function open(options: WorldOptions = {}): Promise<void> {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 })
  const { token: made, sha256 } = createToken()
  token = made
  const auth = bearerAuth({ tokens: [{ name: 'ada', sha256, expiresAt: Date.now() + LIFE_MS }] })
  w = await world({ http: { auth }, tools: [{ name: 'order', holdMs: 300_000 }], ...options })
  vi.spyOn(w.server.service, 'wait')
}

/** Whether the request is answered by the time the token expires, and not before. */
async function answerAtExpiry<T>(answer: Promise<T>): Promise<T> {
  let answered = false
  void answer.then(() => {
    answered = true
  })
  await w.clock.advance(SOON_MS)
  expect(answered).toBe(false)
  await w.clock.advance(LIFE_MS - SOON_MS)
  const answers = await answer
  expect(w.backend.callsOf('cancel')).toEqual([])
  return answers
}

const session = (capabilities: object = {}) => httpLegacy(w.http.url, { token, capabilities })
/** A request has come so far that it waits. */
const arrived = () => until(() => vi.mocked(w.server.service.wait).mock.calls.length > 0)

describe('nobody waits for longer than their token counts', () => {
  it('a held call is answered with its task then', async () => {
    await open()
    const headers = { authorization: `Bearer ${token}` }
    const call = send(w.http.url, 'tools/call', { name: 'order' }, { headers })
    await arrived()
    const { result } = await answerAtExpiry(call)
    expect(result.content[0].text).toMatch(/^Task tsk_/)
  })

  it('a call of a session too', async () => {
    await open()
    const call = (await session()).ask('tools/call', { name: 'order', arguments: {} })
    await arrived()
    expect((await answerAtExpiry(call)).result.content[0].text).toMatch(/^Task tsk_/)
  })

  it('tasks/result of 2025-11-25 says that the task goes on', async () => {
    await open()
    const client = await session()
    const { taskId } = (await client.ask('tools/call', { name: 'order', arguments: {}, task: {} })).result
      .task
    const waiting = client.ask('tasks/result', { taskId })
    await arrived()
    const { error } = await answerAtExpiry(waiting)
    expect(error).toMatchObject({ code: -32603, data: { reason: 'unavailable' } })
    expect(error.message).toContain(`The task ${taskId} goes on; ask for it with a new token`)
  })

  it('so does a call that is a task of SEP-1686', async () => {
    await open()
    const _meta = { 'modelcontextprotocol.io/task': { taskId: 'mine' } }
    const call = (await session()).ask('tools/call', { name: 'order', arguments: {}, _meta })
    await arrived()
    const { error } = await answerAtExpiry(call)
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('with a new token') })
  })

  it('a question before the start is not waited for, and nothing starts', async () => {
    await open({ tools: [{ name: 'order', confirm: { message: 'Sure?' } }] })
    const client = await session({ elicitation: {} })
    const call = client.ask('tools/call', { name: 'order', arguments: {} })
    await client.found((message: Any) => message.method === 'elicitation/create')
    const { result } = await answerAtExpiry(call)
    expect(result.content[0].text).toContain('the question was not answered in time')
    expect(w.backend.executions).toEqual([])
  })

  it('nor is one of the run, which goes on', async () => {
    await open({ tools: [{ name: 'order', humanInput: 'elicitation', holdMs: 300_000 }] })
    const client = await session({ elicitation: {} })
    const call = client.ask('tools/call', { name: 'order', arguments: {} })
    const run = await w.run()
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
    await client.found((message: Any) => message.method === 'elicitation/create')
    expect((await answerAtExpiry(call)).result.content[0].text).toMatch(/^Task tsk_/)
  })
})

it('a question of a session waits for questionMs and no longer', async () => {
  await open({
    tools: [{ name: 'order', confirm: { message: 'Sure?' } }],
    server: { limits: { sweepMs: 1e12, questionMs: 20_000 } },
  })
  const client = await session({ elicitation: {} })
  const call = client.ask('tools/call', { name: 'order', arguments: {} })
  await client.found((message: Any) => message.method === 'elicitation/create')
  await w.clock.advance(20_000)
  expect((await call).result.content[0].text).toContain('the question was not answered in time')
  const [asked, takenBack] = client.received.filter(({ message }) => message.method !== undefined)
  expect(takenBack?.message).toMatchObject({
    method: 'notifications/cancelled',
    params: { requestId: asked?.message.id },
  })
})
