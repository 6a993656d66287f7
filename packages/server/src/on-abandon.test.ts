import { afterEach, describe, expect, it } from 'vitest'
import { httpLegacy, stdioLegacy } from './testing/legacy-client.js'
import { message, send } from './testing/raw-client.js'
import { rawStdio } from './testing/raw-stdio.js'
import { until, type World, type WorldOptions, world } from './testing/world.js'

let w: World
const ends: (() => Promise<unknown>)[] = []
const open = async (options: WorldOptions = {}) => {
  w = await world(options)
  ends.push(() => w.close())
}
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

interface Held {
  /** Takes the call back, as a host does at its own time-out too. */
  withdraw(): Promise<void>
  /** Is gone without a word. */
  leave(): Promise<void>
}

/** A call of `order` that is held, by each way in which it can be taken back. */
const WAYS: Readonly<Record<string, () => Promise<Held>>> = {
  async '2025-11-25 over HTTP'() {
    const client = await httpLegacy(w.http.url)
    const leaving = new AbortController()
    const { id } = client.send('tools/call', { name: 'order', arguments: {} }, leaving.signal)
    return {
      withdraw: () =>
        client.notify('notifications/cancelled', { requestId: id, reason: 'Request timed out' }),
      leave: async () => leaving.abort(),
    }
  },
  async '2025-11-25 over stdio'() {
    const client = await stdioLegacy(w.server)
    const { id } = client.send('tools/call', { name: 'order', arguments: {} })
    return {
      withdraw: () => client.notify('notifications/cancelled', { requestId: id }),
      leave: () => client.close(),
    }
  },
  async '2026-07-28 over stdio'() {
    const raw = rawStdio(w.server)
    raw.write(message('held', 'tools/call', { name: 'order', arguments: {} }))
    return {
      async withdraw() {
        raw.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'held' } })
      },
      async leave() {
        raw.input.end()
        await raw.stdio.ended
        await raw.stdio.close()
      },
    }
  },
}

const cancels = async () => (await w.store.list('local', {}, 10)).records.map(({ cancel }) => cancel?.reason)

describe.each(Object.keys(WAYS))('a held call, %s', (way) => {
  const held = async (onAbandon?: 'continue' | 'cancel') => {
    await open({ tools: [{ name: 'order', onAbandon }] })
    const call = await (WAYS[way] as () => Promise<Held>)()
    await w.run()
    await until(async () => (await w.store.list('local', {}, 10)).records[0]?.run !== undefined)
    return call
  }

  it('that is taken back ends the hold and not the run', async () => {
    const call = await held()
    await call.withdraw()
    await until(async () => (await send(w.http.url, 'tools/list')).status === 200)
    await w.clock.advance(120_000)
    expect(await cancels()).toEqual([undefined])
  })

  it('that is taken back stops the run where the tool says so', async () => {
    const call = await held('cancel')
    await call.withdraw()
    await until(async () => (await cancels())[0] === 'The client cancelled the call.')
    expect((await w.run()).cancels).toEqual(['The client cancelled the call.'])
  })

  it('whose client is lost never stops the run, whatever the tool says', async () => {
    const call = await held('cancel')
    await call.leave()
    await w.clock.advance(120_000)
    expect(await cancels()).toEqual([undefined])
  })
})

it('a closed connection is no cancel on 2026-07-28 over HTTP, and neither is a notification on another one', async () => {
  await open({ tools: [{ name: 'order', onAbandon: 'cancel' }] })
  const leaving = new AbortController()
  const sent = { signal: leaving.signal }
  const call = send(w.http.url, 'tools/call', { name: 'order', arguments: {} }, sent)
  await w.run()
  leaving.abort()
  await expect(call).rejects.toThrow()
  await send(w.http.url, 'notifications/cancelled', { requestId: 1 })
  await w.clock.advance(120_000)
  expect(await cancels()).toEqual([undefined])
})

it('a task_status that is taken back ends the waiting alone', async () => {
  await open({ tools: [{ name: 'order', onAbandon: 'cancel', holdMs: 0 }] })
  const client = await stdioLegacy(w.server)
  const { result } = await client.ask('tools/call', { name: 'order', arguments: {} })
  const taskId = /tsk_[\w-]+/.exec(result.content[0].text)?.[0]
  const { id } = client.send('tools/call', { name: 'task_status', arguments: { taskId } })
  await client.notify('notifications/cancelled', { requestId: id })
  await client.ask('ping')
  await w.clock.advance(60_000)
  expect(await cancels()).toEqual([undefined])
})

describe.each([
  ['before the start', { confirm: { message: 'Really?' } }, false],
  ['in the middle', { humanInput: 'elicitation' }, true],
] as const)('a client that leaves a question %s', (_when, tool, starts) => {
  it.each(['leaves', 'takes the call back', 'stays while the server closes'])(
    '%s is asked no further',
    async (how) => {
      await open({ tools: [{ name: 'order', ...tool }], server: { limits: { sweepMs: 1e12, maxCalls: 1 } } })
      const client = await httpLegacy(w.http.url, { capabilities: { elicitation: {} } })
      const leaving = new AbortController()
      const call = client.send('tools/call', { name: 'order', arguments: {} }, leaving.signal)
      if (starts) {
        const run = await w.run()
        await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
      }
      await client.found(({ method }) => method === 'elicitation/create')
      if (how === 'stays while the server closes') {
        await w.http.close()
        const text = (await call.answer).result.content[0].text
        expect(text).toMatch(starts ? /^Task tsk_/ : /^Nothing was started: the question was not answered/)
        return
      }
      if (how === 'leaves') leaving.abort()
      else await client.notify('notifications/cancelled', { requestId: call.id })
      // The one call at a time is free again.
      await until(async () => {
        const { result } = await send(w.http.url, 'tools/call', { name: 'task_list', arguments: {} })
        return result.isError !== true
      })
      expect(
        client.received.filter(({ message: { method } }) => method === 'elicitation/create'),
      ).toHaveLength(1)
      expect(await cancels()).toEqual(starts ? [undefined] : [])
    },
  )
})
