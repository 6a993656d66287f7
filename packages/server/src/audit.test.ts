import { afterEach, expect, it } from 'vitest'
import { bearerAuth } from './auth/bearer-auth.js'
import { createToken } from './auth/static-tokens.js'
import { send } from './testing/raw-client.js'
import { type World, type WorldOptions, world } from './testing/world.js'

let w: World
afterEach(() => w.close())

const lines: object[] = []
const keep = (fields: object) => void lines.push(fields)
const token = createToken()
const headers = { authorization: `Bearer ${token.token}` }
const owner = '["subject","urn:runbridge:token","ci"]'
const SECRET = 'hunter2'

async function open(options: WorldOptions = {}): Promise<void> {
  lines.length = 0
  const auth = bearerAuth({ tokens: [{ name: 'ci', sha256: token.sha256, scopes: ['deploy'] }] })
  w = await world({
    ...options,
    http: { auth },
    server: { audit: { info: keep, warn: keep, error: keep }, ...options.server },
  })
}

const call = (name: string, args: object = {}, sent: object = {}) =>
  send(w.http.url, 'tools/call', { name, arguments: args }, { tasks: true, headers, ...sent })

it('a call, its answer and its cancel, with owner, tool, task and outcome', async () => {
  await open({ tools: [{ name: 'deploy', humanInput: 'model' }] })
  const { taskId } = (await call('deploy', { password: SECRET })).result
  const run = await w.run()
  await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
  const { result } = await send(
    w.http.url,
    'tasks/get',
    { taskId },
    { tasks: true, elicitation: true, headers },
  )
  const [key = ''] = Object.keys(result.inputRequests)
  const content = { approve: true, comment: SECRET }
  const answer = { taskId, key, action: 'accept', content }
  await call('task_answer', answer, { tasks: false })
  await call('task_answer', answer, { tasks: false })
  await send(w.http.url, 'tasks/cancel', { taskId }, { tasks: true, headers })
  await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: SECRET }))
  await call('task_cancel', { taskId, reason: SECRET }, { tasks: false })
  expect(lines).toEqual([
    { audit: 'call', owner, tool: 'deploy', taskId, outcome: 'running' },
    { audit: 'answer', owner, tool: 'deploy', taskId, outcome: 'delivered' },
    { audit: 'answer', owner, tool: 'deploy', taskId, outcome: 'ignored' },
    { audit: 'cancel', owner, tool: 'deploy', taskId, outcome: 'requested' },
    { audit: 'cancel', owner, tool: 'deploy', taskId, outcome: 'succeeded' },
  ])
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${SECRET}|${token.token}|${run.runKey}`))
})

it('what was refused, and by which error', async () => {
  const input = { type: 'object', properties: { n: { type: 'integer' } } }
  await open({
    tools: [
      { name: 'order', inputSchema: input },
      { name: 'wipe', scopes: ['admin'] },
      { name: 'ask', confirm: { message: 'Sure?' } },
    ],
    server: { limits: { maxOpenTasks: 1, sweepMs: 1e12 } },
  })
  await call('order', { n: SECRET })
  await call('wipe', { n: SECRET })
  const { result } = await call('order')
  await call('order')
  await call('ask', {}, { elicitation: true })
  await call('ask')
  await call('task_cancel', { taskId: 'x'.repeat(300) }, { tasks: false })
  expect(lines).toEqual([
    { audit: 'call', owner, tool: 'order', outcome: 'invalid_input' },
    { audit: 'call', owner, tool: 'wipe', outcome: 'denied' },
    { audit: 'call', owner, tool: 'order', taskId: result.taskId, outcome: 'running' },
    { audit: 'call', owner, tool: 'order', outcome: 'limit' },
    { audit: 'call', owner, tool: 'ask', outcome: 'asked' },
    { audit: 'call', owner, tool: 'ask', outcome: 'missing_capability' },
    { audit: 'cancel', owner, taskId: 'x'.repeat(200), outcome: 'task_not_found' },
  ])
  expect(JSON.stringify(lines)).not.toContain(SECRET)
})

it('a synchronous call, and one that the engine refused, once', async () => {
  await open({ tools: [{ name: 'greet' }], capabilities: { execution: 'call' } })
  await call('greet', { name: SECRET })
  expect(lines).toEqual([{ audit: 'call', owner, tool: 'greet', outcome: 'succeeded' }])
  await w.close()
  await open()
  w.backend.script('start', 'refused')
  await call('order')
  expect(lines).toEqual([{ audit: 'call', owner, tool: 'order', outcome: 'denied' }])
})
