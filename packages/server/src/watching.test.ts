import { afterEach, describe, expect, it } from 'vitest'
import { httpLegacy } from './testing/legacy-client.js'
import { type Exchange, send, sendLegacy } from './testing/raw-client.js'
import { type World, type WorldOptions, world } from './testing/world.js'

let w: World
/** A run that somebody else started, and tools that watch its workflow. */
const open = async (options: WorldOptions = {}) => {
  const workflow = { id: 'order' }
  w = await world({
    tools: [
      { name: 'watch', workflow, attach: true, title: 'Orders', description: undefined },
      { name: 'confirmed', workflow, attach: true, confirm: { message: 'Watch {run}?' } },
      { name: 'stopping', workflow, attach: true, cancelAttached: true, humanInput: 'elicitation' },
    ],
    ...options,
  })
  await w.backend.start(workflow, 'foreign', {}, { signal: new AbortController().signal, owner: 'local' })
}
afterEach(() => w.close())

const TASKS = { tasks: true, elicitation: true }
const call = (name: string, args: object = { run: 'run-1' }, sent: object = TASKS, more: object = {}) =>
  send(w.http.url, 'tools/call', { name, arguments: args, ...more }, sent)
const get = (taskId: string) => send(w.http.url, 'tasks/get', { taskId }, TASKS)
const text = (exchange: Exchange): string =>
  exchange.result.content.map((part: { text: string }) => part.text).join('\n')
const succeed = async () => {
  w.backend.set('foreign', { state: 'succeeded', output: 'shipped' })
  await w.server.service.hint({ run: { id: 'run-1', attempt: 0 } })
}

describe('a tool that watches runs', () => {
  it('takes one string that names the run, and says so', async () => {
    await open()
    const { tools } = (await send(w.http.url, 'tools/list', {}, TASKS)).result
    expect(tools[0]).toMatchObject({
      inputSchema: {
        properties: { run: { type: 'string', description: 'The run: the id of a run.' } },
        required: ['run'],
      },
      annotations: { readOnlyHint: true },
    })
    expect(tools[0].description).toMatch(/^Watches a run of Orders .* Takes the id of a run\./)
    expect(tools[0].description).toContain('does not stop the run')
    expect(tools[2].description).not.toContain('does not stop the run')
    expect(tools[2]).not.toHaveProperty('annotations')
  })

  it('hands out a task of the run, for clients that have tasks', async () => {
    await open()
    const { result: handle } = await call('watch')
    expect(handle).toMatchObject({ resultType: 'task', status: 'working' })
    expect((await get(handle.taskId)).result.status).toBe('working')
    w.clock.jump(1)
    await succeed()
    const { result } = await get(handle.taskId)
    expect([result.status, result.result.content[0].text]).toEqual(['completed', 'shipped'])
    expect(w.backend.executions).toHaveLength(1)
  })

  it('is held for clients without tasks, of either era', async () => {
    await open()
    const held = [
      call('watch', { run: 'run-1' }, {}),
      sendLegacy(w.http.url, 'tools/call', { name: 'watch', arguments: { run: 'run-1' } }),
    ]
    while ((await w.store.list('local', {}, 10)).records.length < 2) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    w.backend.set('foreign', { state: 'succeeded', output: 'shipped' })
    await w.clock.advance(5_000)
    for (const answer of await Promise.all(held)) expect(text(answer)).toMatch(/^shipped/)
    expect(w.backend.executions).toHaveLength(1)
  })

  it('may ask before it watches, and a replay gets the same task', async () => {
    await open()
    const asked = (await call('confirmed')).result
    expect(asked.inputRequests.confirm.params.message).toBe('Watch run-1?')
    const more = {
      requestState: asked.requestState,
      inputResponses: { confirm: { action: 'accept', content: { confirm: true } } },
    }
    const first = (await call('confirmed', { run: 'run-1' }, TASKS, more)).result
    w.backend.forget('foreign')
    expect((await call('confirmed', { run: 'run-1' }, TASKS, more)).result.taskId).toBe(first.taskId)
  })

  it('says what is wrong with a run that it can not watch, and leaves no task', async () => {
    await open()
    for (const [args, words] of [
      [{ run: 'run-9' }, 'no run run-9 of order'],
      [{}, '/run'],
      [{ run: 7 }, '/run'],
    ] as const) {
      const answer = await call('watch', args)
      expect([answer.result.isError, text(answer)]).toEqual([true, expect.stringContaining(words)])
    }
    expect((await w.store.list('local', {}, 10)).records).toEqual([])
  })

  it('acknowledges a cancel, and says that it only watches', async () => {
    await open()
    const { taskId } = (await call('watch')).result
    expect((await send(w.http.url, 'tasks/cancel', { taskId }, TASKS)).result).toMatchObject({
      resultType: 'complete',
    })
    const { result } = await get(taskId)
    expect(result).toMatchObject({
      status: 'working',
      statusMessage: expect.stringContaining('only watches'),
    })
    expect(text(await call('task_cancel', { taskId }, {}))).toContain('only watches')
    expect(w.backend.callsOf('cancel')).toEqual([])
    w.clock.jump(1)
    await succeed()
    expect((await get(taskId)).result.status).toBe('completed')
  })

  it('never says that task_cancel stops the run, unless it may', async () => {
    const workflow = { id: 'order' }
    const tool = { workflow, attach: true, holdMs: 0 }
    await open({
      tools: [
        { name: 'watch', ...tool },
        { name: 'stopping', ...tool, cancelAttached: true },
      ],
    })
    const watched = text(await call('watch', { run: 'run-1' }, {}))
    expect(watched).toContain('only watched here: task_cancel does not stop it')
    expect(watched).not.toContain('stop it with task_cancel')
    const { taskId } = (await call('watch')).result
    expect(text(await call('task_status', { taskId, waitSeconds: 0 }, {}))).toContain('does not stop it')
    expect(text(await call('stopping', { run: 'run-1' }, {}))).toContain('stop it with task_cancel')
    const { instructions } = (await send(w.http.url, 'server/discover')).result
    expect(instructions).toContain('starts one run of a workflow, or watches one')
  })

  it('ends its task at once for a client of 2025-11-25, and says that the run was not asked to stop', async () => {
    await open()
    const client = await httpLegacy(w.http.url)
    const made = await client.ask('tools/call', { name: 'watch', arguments: { run: 'run-1' }, task: {} })
    const { taskId } = made.result.task
    expect((await client.ask('tasks/cancel', { taskId })).result).toMatchObject({
      status: 'cancelled',
      statusMessage: expect.stringContaining('only watched the run'),
    })
    expect(w.backend.callsOf('cancel')).toEqual([])
  })

  it('promises nothing of starts, since it makes none', async () => {
    await open({ capabilities: { start: 'findable', cancel: false } })
    const { tools } = (await send(w.http.url, 'tools/list', {}, TASKS)).result
    expect(tools[0].description).not.toMatch(/lost|can not be stopped/)
    expect(tools[2].description).toContain('can not be stopped')
  })

  it('stops the run with the permission to', async () => {
    await open()
    const { taskId } = (await call('stopping')).result
    await send(w.http.url, 'tasks/cancel', { taskId }, TASKS)
    expect((await get(taskId)).result.status).toBe('cancelled')
  })

  it('puts the questions of the run to its caller, as humanInput says', async () => {
    await open()
    const { taskId } = (await call('stopping')).result
    w.backend.openGate('foreign', { id: 'approve' })
    const { result } = await get(taskId)
    expect(result.status).toBe('input_required')
    const [key = ''] = Object.keys(result.inputRequests)
    const inputResponses = { [key]: { action: 'accept', content: { approve: true } } }
    await send(w.http.url, 'tasks/update', { taskId, inputResponses }, TASKS)
    expect(w.backend.runs.get('foreign')?.answers.get('approve')).toMatchObject({ action: 'accept' })
  })
})
