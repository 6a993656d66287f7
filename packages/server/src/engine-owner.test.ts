import type { Backend, OwnerContext } from '@runbridge/core'
import { afterEach, expect, it } from 'vitest'
import { send } from './testing/raw-client.js'
import { type World, world } from './testing/world.js'

let w: World
afterEach(() => w.close())

const call = (name: string, args: object = {}) => send(w.http.url, 'tools/call', { name, arguments: args })

it('a workflow that ends within its call is called for the caller, and described for nobody', async () => {
  w = await world({ capabilities: { execution: 'call' } })
  await call('order')
  expect(w.backend.calls.map(({ method, owner }) => [method, owner])).toEqual([
    ['describe', undefined],
    ['call', 'local'],
  ])
})

it('a log is read for the owner of its task', async () => {
  w = await world({ tools: [{ name: 'order', holdMs: 0 }], capabilities: { log: true } })
  const readers: string[] = []
  const log: Backend['log'] = async (_workflow, _run, _range, { owner }: OwnerContext) => {
    readers.push(owner)
    return { text: 'built', complete: true }
  }
  Object.assign(w.backend, { log })
  const [{ text }] = (await call('order')).result.content
  await call('task_log', { taskId: /tsk_[\w-]+/.exec(text)?.[0] })
  expect(readers).toEqual(['local'])
})
