import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bearerAuth } from './auth/bearer-auth.js'
import { AUDIENCE, type Issuer, startIssuer } from './testing/issuer.js'
import { httpLegacy } from './testing/legacy-client.js'
import { type Named, OPERATIONS } from './testing/operations.js'
import { send } from './testing/raw-client.js'
import { type World, world } from './testing/world.js'

/** Who asks: `ada` of the one issuer owns the task. */
const CALLERS = {
  'another user': () => one.token({ sub: 'grace' }),
  'another tenant, of the same name': () => two.token({ sub: 'ada' }),
  'a client of the name': () => one.token({ client_id: 'ada' }),
}
const REFUSED: Record<string, () => Promise<string> | undefined> = {
  'the owner with an expired token': () => one.token({ sub: 'ada', expiresIn: -3600 }),
  'the owner with a token for another server': () => one.token({ sub: 'ada', aud: 'https://other.example' }),
  nobody: () => undefined,
}

const SAME_LENGTH: Named = {
  task: `tsk_${'A'.repeat(24)}`,
  older: `tsk_${'A'.repeat(24)}`,
  underId: 'not-of-ada',
  state: '',
  session: `ses_${'A'.repeat(32)}`,
}

let one: Issuer
let two: Issuer
let w: World
beforeAll(async () => {
  one = await startIssuer('/one')
  two = await startIssuer('/two')
})
afterAll(async () => {
  await one.close()
  await two.close()
})

let named: Named
beforeEach(async () => {
  const auth = bearerAuth({
    jwt: [one, two].map(({ issuer }) => ({ issuer, audience: AUDIENCE })),
    resourceUrl: AUDIENCE,
  })
  w = await world({
    tools: [{ name: 'deploy', humanInput: 'model', holdMs: 1000 }],
    capabilities: { log: true },
    http: { auth },
  })
  Object.assign(w.backend, { log: async () => ({ text: 'Done', complete: false }) })
  const token = await one.token({ sub: 'ada' })
  const headers = { authorization: `Bearer ${token}` }
  const call = { name: 'deploy', arguments: {} }
  const sent = (more: object) => send(w.http.url, 'tools/call', call, { headers, ...more })
  const task = (await sent({ tasks: true })).result.taskId
  const held = sent({ elicitation: true })
  for (const index of [0, 1]) {
    const run = await w.run(index)
    await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
  }
  const client = await httpLegacy(w.http.url, { token })
  const older = (await client.ask('tools/call', { ...call, task: {} })).result.task.taskId
  const underId = 'id-of-ada-'
  client.send('tools/call', { ...call, _meta: { 'modelcontextprotocol.io/task': { taskId: underId } } })
  await w.run(3)
  named = { task, older, underId, state: (await held).result.requestState, session: client.sessionId ?? '' }
})
afterEach(() => w.close())

const owner = async () => `Bearer ${await one.token({ sub: 'ada' })}`
const foreignTo = (caller: () => Promise<string>) => caller().then((token) => `Bearer ${token}`)
const unknownTo = (): Named => ({ ...SAME_LENGTH, state: 'x'.repeat(named.state.length) })
const untouched = () =>
  expect(w.backend.executions.map(({ cancels, answers }) => [cancels.length, answers.size])).toEqual([
    [0, 0],
    [0, 0],
    [0, 0],
    [0, 0],
  ])

describe.each(OPERATIONS)('$name', (operation) => {
  it('serves the owner', async () => {
    if (operation.ended) {
      for (const run of w.backend.executions)
        await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'Done' }))
    }
    const seen = await operation.ask(w.http.url, await owner(), named)
    expect(seen.status).toBeLessThan(300)
    expect(seen.body).toMatch(operation.owner)
  })

  it.each(Object.entries(CALLERS))('tells %s the same bytes of it as of no task', async (_name, caller) => {
    const authorization = await foreignTo(caller)
    const foreign = await operation.ask(w.http.url, authorization, named)
    const unknown = await operation.ask(w.http.url, authorization, unknownTo())
    expect(foreign).toEqual(unknown)
    expect(foreign.body).not.toMatch(operation.owner)
    untouched()
  })

  it.each(Object.entries(REFUSED))('refuses %s before it is looked at', async (_name, caller) => {
    const token = await caller()
    const authorization = token && `Bearer ${token}`
    const foreign = await operation.ask(w.http.url, authorization, named)
    const unknown = await operation.ask(w.http.url, authorization, unknownTo())
    expect(foreign.status).toBe(401)
    expect(foreign.challenge).toContain('resource_metadata=')
    expect(foreign).toEqual(unknown)
    untouched()
  })
})

describe('what one caller uses up', () => {
  it('leaves the others their own', async () => {
    await w.close()
    const auth = bearerAuth({ jwt: [{ issuer: one.issuer, audience: AUDIENCE }], resourceUrl: AUDIENCE })
    w = await world({ http: { auth }, server: { limits: { maxOpenTasks: 1, sweepMs: 1e12 } } })
    const call = async (sub: string) =>
      send(
        w.http.url,
        'tools/call',
        { name: 'order' },
        { tasks: true, headers: { authorization: `Bearer ${await one.token({ sub })}` } },
      )
    expect((await call('ada')).result.resultType).toBe('task')
    expect((await call('ada')).result.content[0].text).toContain('1 open tasks')
    expect((await call('grace')).result.resultType).toBe('task')
  })

  it('and equal calls of two callers are two tasks, whatever makes them equal for one', async () => {
    await w.close()
    const auth = bearerAuth({ jwt: [{ issuer: one.issuer, audience: AUDIENCE }], resourceUrl: AUDIENCE })
    w = await world({
      http: { auth },
      tools: [
        {
          name: 'order',
          idempotencyKey: ['n'],
          inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
        },
      ],
    })
    const call = async (sub: string) =>
      (
        await send(
          w.http.url,
          'tools/call',
          { name: 'order', arguments: { n: 1 } },
          { tasks: true, headers: { authorization: `Bearer ${await one.token({ sub })}` } },
        )
      ).result.taskId
    const [first, again, other] = [await call('ada'), await call('ada'), await call('grace')]
    expect(again).toBe(first)
    expect(other).not.toBe(first)
    expect(w.backend.executions).toHaveLength(2)
  })

  it('and an id that one client chose is free for every other caller', async () => {
    const client = await httpLegacy(w.http.url, { token: await one.token({ sub: 'grace' }) })
    const _meta = { 'modelcontextprotocol.io/task': { taskId: named.underId } }
    client.send('tools/call', { name: 'deploy', arguments: {}, _meta })
    await w.run(4)
    const { result } = await client.ask('tasks/get', { taskId: named.underId })
    expect(result.status).toMatch(/submitted|working/)
    expect(w.backend.executions).toHaveLength(5)
  })
})
