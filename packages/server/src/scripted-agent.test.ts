import type { JsonObject } from '@runbridge/core'
import { afterEach, describe, expect, it } from 'vitest'
import { httpLegacy } from './testing/legacy-client.js'
import { send, sendLegacy } from './testing/raw-client.js'
import { type Host, type Outcome, scriptedAgent } from './testing/scripted-agent.js'
import { type World, type WorldOptions, world } from './testing/world.js'

let w: World
const ends: (() => Promise<unknown>)[] = []
const open = async (options?: WorldOptions) => {
  w = await world(options)
  ends.push(() => w.close())
}
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

// biome-ignore lint/suspicious/noExplicitAny: whatever came over the wire
const answerOf = ({ result }: any) => ({
  texts: result.content.map((part: { text: string }) => part.text),
  isError: result.isError === true,
})

/** How a host without tasks of each era gives words to its model. */
const HOSTS: Readonly<Record<string, () => Promise<Host>>> = {
  async '2026-07-28'() {
    const { result } = await send(w.http.url, 'server/discover')
    return {
      instructions: result.instructions,
      tools: (await send(w.http.url, 'tools/list')).result.tools,
      call: async (name, args) => answerOf(await send(w.http.url, 'tools/call', { name, arguments: args })),
    }
  },
  async '2025-11-25 in a session'() {
    const client = await httpLegacy(w.http.url)
    return {
      instructions: client.hello.instructions,
      tools: (await client.ask('tools/list')).result.tools,
      call: async (name, args) => answerOf(await client.ask('tools/call', { name, arguments: args })),
    }
  },
  async '2025 without a session'() {
    return {
      instructions: '',
      tools: (await sendLegacy(w.http.url, 'tools/list')).result.tools,
      call: async (name, args) =>
        answerOf(await sendLegacy(w.http.url, 'tools/call', { name, arguments: args })),
    }
  },
}

/** Lets the agent work while time passes: at each given second something happens in the engine. */
async function work(
  host: Host,
  happens: Readonly<Record<number, () => void>> = {},
  name = 'order',
  args: JsonObject = {},
): Promise<Outcome> {
  let ended = false
  const working = scriptedAgent(host, name, args).finally(() => {
    ended = true
  })
  await w.run()
  for (let second = 1; !ended; second += 1) {
    await w.clock.advance(1_000)
    happens[second]?.()
    // Requests travel over a real socket between two steps of the clock.
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return working
}

const names = ({ calls }: Outcome) => calls.map(({ name }) => name)
const key = () => w.backend.executions[0]?.runKey ?? ''

describe.each(Object.keys(HOSTS))('an agent that knows only what it reads, %s', (era) => {
  const host = () => (HOSTS[era] as () => Promise<Host>)()

  it('has the result of a short run at once', async () => {
    await open()
    const outcome = await work(await host(), {
      2: () => w.backend.set(key(), { state: 'succeeded', output: 'ok' }),
    })
    expect(outcome).toMatchObject({ stopped: 'done', isError: false, last: ['ok', expect.anything()] })
    expect(names(outcome)).toEqual(['order'])
  })

  it('waits for a long run with waitSeconds, never starts it again, and stops when it is done', async () => {
    await open()
    const outcome = await work(await host(), {
      160: () => w.backend.set(key(), { state: 'succeeded', output: { total: 7 } }),
    })
    expect(outcome).toMatchObject({
      stopped: 'done',
      isError: false,
      last: ['{"total":7}', expect.anything()],
    })
    expect(names(outcome).slice(0, 2)).toEqual(['order', 'task_status'])
    expect(new Set(names(outcome).slice(1))).toEqual(new Set(['task_status']))
    for (const { args } of outcome.calls.slice(1)) expect(args).toMatchObject({ waitSeconds: 45 })
    // Three minutes, and no more calls than waits of 45 s need.
    expect(outcome.calls.length).toBeLessThanOrEqual(6)
    expect(w.backend.executions).toHaveLength(1)
  })

  it.each([
    ['failed', { error: { code: 'NoStock', message: 'none left' } }],
    ['cancelled', {}],
    ['lost', {}],
  ] as const)('stops at a run that is %s, and does not repeat it', async (state, more) => {
    await open()
    const outcome = await work(await host(), { 70: () => w.backend.set(key(), { state, ...more } as never) })
    expect(outcome).toMatchObject({ stopped: 'done', isError: true })
    expect(w.backend.executions).toHaveLength(1)
  })

  it('answers what it is asked, once, and goes on waiting', async () => {
    await open({ tools: [{ name: 'order', humanInput: 'model', unanswerable: 'show' }] })
    const outcome = await work(await host(), {
      20: () => w.backend.openGate(key(), { id: 'a', prompt: 'Ship it?' }),
      200: () => w.backend.set(key(), { state: 'succeeded', output: 'shipped' }),
    })
    expect(w.backend.executions[0]?.answers.get('a')).toEqual({
      action: 'accept',
      content: { approve: true },
    })
    expect(names(outcome).filter((name) => name === 'task_answer')).toHaveLength(1)
    expect(outcome).toMatchObject({ stopped: 'done', isError: false, last: ['shipped', expect.anything()] })
  })

  it('tells its user of a question that is not for it, and answers nothing', async () => {
    await open({ tools: [{ name: 'order', humanInput: 'elicitation', unanswerable: 'show' }] })
    const outcome = await work(await host(), {
      20: () => w.backend.openGate(key(), { id: 'a', prompt: 'Ship it?' }),
      150: () => w.backend.closeGate(key(), 'a'),
      170: () => w.backend.set(key(), { state: 'succeeded', output: 'shipped' }),
    })
    expect(outcome).toMatchObject({ stopped: 'done', isError: false, toldUser: true })
    expect(names(outcome)).not.toContain('task_answer')
    expect(w.backend.executions).toHaveLength(1)
  })

  it('finds a task again whose id it has lost', async () => {
    await open({ tools: [{ name: 'order', holdMs: 0 }] })
    const { call, ...rest } = await host()
    await call('order', {})
    const run = await w.run()
    await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded', output: 'ok' }))
    const list = rest.tools.find(({ description }) => /task id you have lost/.test(description))
    const { texts } = await call(list?.name ?? '', { tool: 'order' })
    const id = /Task (\S+) \(order/.exec(texts[0] ?? '')?.[1] ?? ''
    expect((await call('task_status', { taskId: id })).texts[0]).toBe('ok')
  })
})

describe('the measure', () => {
  const without = (host: Host, words: RegExp): Host => ({
    ...host,
    instructions: host.instructions.replace(words, ''),
    tools: host.tools.map((tool) => ({ ...tool, description: tool.description.replace(words, '') })),
    call: async (name, args) => {
      const { texts, isError } = await host.call(name, args)
      return { texts: texts.map((text) => text.replace(words, '')), isError }
    },
  })
  const host = () => (HOSTS['2026-07-28'] as () => Promise<Host>)()

  it('sees an agent that is not told how to go on: lost, or starting again', async () => {
    await open({ tools: [{ name: 'order', holdMs: 0 }] })
    const unnamed = await work(without(await host(), /Call task_status/g))
    expect(unnamed.stopped).toBe('lost')
    const free = without(await host(), /Call task_status|do not (start it|call this|call the tool) again/gi)
    expect((await work(free)).stopped).toBe('gave up')
    expect(w.backend.executions.length).toBeGreaterThan(2)
  })

  it('sees an agent that is not told that a question comes first', async () => {
    await open({ tools: [{ name: 'order', humanInput: 'model', unanswerable: 'show' }] })
    const happens = {
      20: () => void w.backend.openGate(key(), { id: 'a' }),
      3000: () => w.backend.set(key(), { state: 'succeeded' }),
    }
    const outcome = await work(without(await host(), /First answer it: call task_answer/g), happens)
    expect(w.backend.executions[0]?.answers.size).toBe(0)
    expect(outcome.stopped).toBe('gave up')
  })
})
