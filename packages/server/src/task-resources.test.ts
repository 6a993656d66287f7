import type { Backend } from '@runbridge/core'
import { afterEach, describe, expect, it } from 'vitest'
import { parseTaskUri, taskUri } from './task-resources.js'
import { httpLegacy } from './testing/legacy-client.js'
import { send } from './testing/raw-client.js'
import { type World, type WorldOptions, world } from './testing/world.js'

let w: World
const ends: (() => Promise<unknown>)[] = []
let printed = ''
let complete = false
const open = async (options?: WorldOptions) => {
  w = await world({ tools: [{ name: 'test', holdMs: 0 }], capabilities: { log: true }, ...options })
  ends.push(() => w.close())
  const log: NonNullable<Backend['log']> = async (_workflow, _run, { offset, limit }) => {
    const text = printed.slice(offset, offset + limit)
    const next = offset + text.length < printed.length ? offset + text.length : undefined
    return { text, complete: complete && next === undefined, ...(next !== undefined && { next }) }
  }
  Object.assign(w.backend, { log })
}
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const ask = (method: string, params: object = {}) => send(w.http.url, method, params)
const read = (uri: string) => send(w.http.url, 'resources/read', { uri }, { headers: { 'mcp-name': uri } })
const started = async () => {
  const { result } = await send(w.http.url, 'tools/call', { name: 'test', arguments: {} }, { tasks: true })
  return { taskId: result.taskId as string, run: await w.run() }
}

describe('the URI of a task', () => {
  it.each(['tsk_1', 'a/b c', 'ü?#%'])('holds any id: %s', (taskId) => {
    expect(parseTaskUri(taskUri(taskId, 'result'))).toEqual({ kind: 'result', taskId })
    expect(parseTaskUri(`${taskUri(taskId, 'log')}?offset=5`)).toMatchObject({
      kind: 'log',
      taskId,
      offset: 5,
    })
  })

  it.each([
    'runbridge://tasks/',
    'runbridge://tasks/a',
    'runbridge://tasks/a/b/log',
    'runbridge://tasks/%ff/log',
    'runbridge://tasks/a/result?offset=1',
    'runbridge://tasks/a/log?offset=-1',
    'runbridge://tasks/a/log?limit=0',
    'runbridge://tasks/a/log?limit=65537',
    'runbridge://tasks/a/log?tail=3',
    'https://tasks/a/log',
    `runbridge://tasks/${'a'.repeat(1_024)}/result`,
  ])('is nothing else: %s', (uri) => {
    expect(parseTaskUri(uri)).toBeUndefined()
  })
})

describe('resources', () => {
  it('are the list of tasks and two templates, for a time and for this caller', async () => {
    await open()
    const list = (await ask('resources/list')).result
    expect(list).toMatchObject({
      ttlMs: 300_000,
      cacheScope: 'private',
      resources: [{ uri: 'runbridge://tasks' }],
    })
    const { result } = await ask('resources/templates/list')
    expect(result).toMatchObject({ ttlMs: 300_000, cacheScope: 'private' })
    expect(result.resourceTemplates.map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate)).toEqual([
      'runbridge://tasks/{taskId}/result',
      'runbridge://tasks/{taskId}/log{?offset,limit}',
    ])
    for (const method of ['resources/list', 'resources/templates/list'])
      expect((await ask(method, { cursor: 'x' })).error.code).toBe(-32602)
  })

  it('are not declared where nothing becomes a task', async () => {
    await open({ capabilities: { execution: 'call', gates: false }, tools: [{ name: 'greet' }] })
    expect((await ask('server/discover')).result.capabilities).not.toHaveProperty('resources')
    expect((await read('runbridge://tasks')).error.code).toBe(-32601)
  })

  it('the list of tasks names what there is of each', async () => {
    await open()
    const { taskId, run } = await started()
    const listed = async () => JSON.parse((await read('runbridge://tasks')).result.contents[0].text).tasks
    expect(await listed()).toEqual([
      { taskId, tool: 'test', state: 'running', createdAt: expect.any(String), log: taskUri(taskId, 'log') },
    ])
    await w.set(run, () => w.backend.set(run.runKey, { state: 'failed' }))
    expect(await listed()).toMatchObject([{ state: 'failed', result: taskUri(taskId, 'result') }])
  })

  it('a result is what the call would have been answered with, once it is there', async () => {
    await open()
    const { taskId, run } = await started()
    const uri = taskUri(taskId, 'result')
    const early = await read(uri)
    expect(early.error).toMatchObject({ code: -32602, data: { uri } })
    expect(early.error.message).toContain('its result is not there yet')
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: { passed: 7 } }))
    const { result } = await read(uri)
    expect(result).toMatchObject({ ttlMs: 300_000, cacheScope: 'private' })
    expect(result.contents).toEqual([{ uri, mimeType: 'application/json', text: expect.any(String) }])
    expect(JSON.parse(result.contents[0].text)).toMatchObject({ structuredContent: { passed: 7 } })
  })

  it('a log is read in ranges before the run has ended', async () => {
    await open()
    printed = 'one\ntwo\n'
    complete = false
    const { taskId } = await started()
    const uri = `${taskUri(taskId, 'log')}?limit=4`
    const first = (await read(uri)).result
    expect(first).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
    expect(first.contents).toEqual([
      {
        uri,
        mimeType: 'text/plain',
        text: 'one\n',
        _meta: { 'runbridge/log': { complete: false, next: 4 } },
      },
    ])
    complete = true
    const rest = (await read(`${taskUri(taskId, 'log')}?offset=4`)).result
    expect(rest).toMatchObject({ ttlMs: 300_000, contents: [{ text: 'two\n' }] })
    expect(rest.contents[0]._meta).toEqual({ 'runbridge/log': { complete: true } })
  })

  it('a missing resource is -32602 with its URI', async () => {
    await open()
    for (const uri of [
      'runbridge://tasks/tsk_nobody/log',
      'test://nothing',
      taskUri('tsk_nobody', 'result'),
    ]) {
      const { error } = await read(uri)
      expect(error).toEqual({ code: -32602, message: `Resource not found: ${uri}`, data: { uri } })
    }
  })

  it('are there in a session of 2025-11-25, without cache hints', async () => {
    await open()
    printed = 'hello'
    const client = await httpLegacy(w.http.url)
    expect(client.hello.capabilities.resources).toEqual({})
    const { result } = await client.ask('tools/call', { name: 'test', arguments: {}, task: {} })
    const uri = taskUri(result.task.taskId, 'log')
    const answer = await client.ask('resources/read', { uri })
    expect(answer.result).toEqual({ contents: [expect.objectContaining({ uri, text: 'hello' })] })
    expect((await client.ask('resources/list')).result).not.toHaveProperty('ttlMs')
  })
})
