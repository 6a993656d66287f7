import type { Gate, GateResponse, Snapshot } from '@runbridge/core'
import type { SimulatedStep } from '@runbridge/emulators/google'
import { describe, expect, it } from 'vitest'
import { emulated } from './testing/emulated.js'
import { context, look } from './testing/scripted-clients.js'
import type { GateConfig, GoogleWorkflow } from './workflow.js'

const details = { urlVariable: 'details.url', result: 'answer' } satisfies GateConfig
const accept = (content: object) => ({ action: 'accept', content }) as GateResponse
const waiting = (snapshot: Snapshot) => snapshot.state === 'waiting'
const over = (snapshot: Snapshot) => snapshot.endedAt !== undefined

/** A promise that the test settles. */
function held() {
  let resolve: (value?: unknown) => void = () => undefined
  const promise = new Promise((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** One callback, waited for twice, the second time when it is let go on; gives both answers. */
const twice = (pause: Promise<unknown> = Promise.resolve()): SimulatedStep[] => [
  { step: 'create', createCallback: 'details' },
  { step: 'approve', awaitCallback: 'details', result: 'answer' },
  { step: 'keep', assign: { first: '$answer.http_request.body' } },
  { step: 'pause', call: () => pause },
  { step: 'approve', awaitCallback: 'details', result: 'answer' },
  { step: 'done', return: { first: '$first', second: '$answer.http_request.body' } },
]
const ONCE: SimulatedStep[] = [
  { step: 'create', createCallback: 'details' },
  { step: 'approve', awaitCallback: 'details', result: 'answer' },
  { step: 'done', return: '$answer.http_request' },
]

async function gated(steps: SimulatedStep[], binding: Partial<GoogleWorkflow>) {
  const world = await emulated({ workflows: { deploy: { steps } } })
  const workflow: GoogleWorkflow = { id: world.emulator.workflowName('deploy'), ...binding }
  const run = await world.start(workflow)
  const answer = (gate: Gate, response: GateResponse) =>
    world.backend.answer(workflow, run, gate, response, context)
  const until = (seen: (snapshot: Snapshot) => boolean, marked = true) =>
    world.until(workflow, run, seen, marked)
  const open = async () => (await until(waiting)).gates[0]!
  return { ...world, workflow, run, answer, until, open }
}

const detailed = (gates: Record<string, GateConfig>) => ({ historyLevel: 'detailed', gates }) as const

describe('a callback that is waited for', () => {
  it('is nothing to ask where no gate is configured for its step', async () => {
    const { until, emulator } = await gated(ONCE, detailed({ other: details }))
    await until(() => emulator.callbacks().some(({ waiters }) => waiters > 0))
    const snapshot = await until((seen) => seen.progress?.message === 'main.approve')
    expect(snapshot).toMatchObject({ state: 'running', gates: [] })
  })

  it('asks the question of the configuration, or of a variable, or a plain one', async () => {
    const steps: SimulatedStep[] = [{ step: 'ask', assign: { question: 'Roll\nout 1.2?' } }, ...ONCE]
    for (const [config, prompt] of [
      [{ prompt: 'Go on?', promptVariable: 'question' }, 'Go on?'],
      [{ promptVariable: 'question' }, 'Roll out 1.2?'],
      [{}, 'The workflow waits for an answer at "approve".'],
      [{ promptVariable: 'details.url' }, 'The workflow waits for an answer at "approve".'],
    ] as const) {
      const { open } = await gated(steps, detailed({ approve: { ...details, ...config } }))
      expect((await open()).prompt).toBe(prompt)
    }
  })

  it('again is a new gate, by the visit of its step where there is a history', async () => {
    const { open, answer, until } = await gated(twice(), detailed({ approve: details }))
    const first = await open()
    expect(await answer(first, accept({ go: 1 }))).toEqual({ kind: 'delivered' })
    const { gates } = await until((seen) => waiting(seen) && seen.gates[0]?.id !== first.id, false)
    const [second] = gates
    expect(second?.id).not.toBe(first.id)
    expect(await answer(first, accept({ go: 1 }))).toEqual({ kind: 'delivered' })
    expect(await answer(first, accept({ go: 9 }))).toEqual({ kind: 'too_late' })
    expect(await answer(second!, accept({ go: 2 }))).toEqual({ kind: 'delivered' })
    expect((await until(over)).output).toEqual({ first: { go: 1 }, second: { go: 2 } })
  })

  it('again is a new gate, by the number of its waits where there is none', async () => {
    const pause = held()
    const { open, answer, until } = await gated(twice(pause.promise), { gates: { approve: {} } })
    const first = await open()
    expect(first.id).toMatch(/^wait-[0-9a-f]{16}-1$/)
    expect(await answer(first, accept({ go: 1 }))).toEqual({ kind: 'delivered' })
    await until((seen) => seen.state === 'running')
    pause.resolve()
    const { gates } = await until(waiting)
    expect(gates[0]?.id).toBe(first.id.replace(/1$/, '2'))
    expect(await answer(gates[0]!, accept({ go: 2 }))).toEqual({ kind: 'delivered' })
    expect((await until(over)).output).toEqual({ first: { go: 1 }, second: { go: 2 } })
  })

  it('in each of two branches is told by its variable', async () => {
    const branch = (name: string): SimulatedStep[] => [
      { step: `create_${name}`, createCallback: name },
      { step: `await_${name}`, awaitCallback: name, result: `${name}_answer` },
    ]
    const steps: SimulatedStep[] = [
      { step: 'both', parallel: { red: branch('red'), blue: branch('blue') } },
      {
        step: 'done',
        return: { red: '$red_answer.http_request.body', blue: '$blue_answer.http_request.body' },
      },
    ]
    const gate = (name: string): GateConfig => ({ urlVariable: `${name}.url`, prompt: name })
    const { until, answer } = await gated(
      steps,
      detailed({ await_red: gate('red'), await_blue: gate('blue') }),
    )
    const { gates } = await until((seen) => seen.gates.length === 2)
    for (const each of gates)
      expect(await answer(each, accept({ for: each.prompt }))).toEqual({ kind: 'delivered' })
    expect((await until(over)).output).toEqual({ red: { for: 'red' }, blue: { for: 'blue' } })
  })

  it('is not asked about where it can not be told from another', async () => {
    const branch = (name: string): SimulatedStep[] => [
      { step: `create_${name}`, createCallback: name },
      { step: `await_${name}`, awaitCallback: name },
    ]
    const steps: SimulatedStep[] = [{ step: 'both', parallel: { red: branch('red'), blue: branch('blue') } }]
    const { until, emulator, warnings, backend, workflow, run } = await gated(steps, {
      gates: { await_red: {}, await_blue: {} },
    })
    await until(() => emulator.callbacks().filter(({ waiters }) => waiters > 0).length === 2)
    const result = await backend.get(workflow, run, { ...look, gates: true })
    expect(result).toMatchObject({ kind: 'snapshot', snapshot: { state: 'running', gates: [] } })
    expect(warnings.at(-1)).toContain('which is which can not be told')
  })
})

describe('an answer', () => {
  it('goes to the callback with what the configuration adds', async () => {
    const gate = { ...details, accept: { approved: true, by: 'runbridge' } }
    const { open, answer, until } = await gated(ONCE, detailed({ approve: gate }))
    expect(await answer(await open(), accept({ by: 'Ada' }))).toEqual({ kind: 'delivered' })
    expect((await until(over)).output).toMatchObject({ method: 'POST', body: { approved: true, by: 'Ada' } })
  })

  it('goes as a query to a callback that takes no body', async () => {
    const steps: SimulatedStep[] = [
      { step: 'create', createCallback: 'details', method: 'GET' },
      ...ONCE.slice(1),
    ]
    const { open, answer, until } = await gated(steps, detailed({ approve: details }))
    expect(await answer(await open(), accept({ go: true }))).toEqual({ kind: 'delivered' })
    expect((await until(over)).output).toMatchObject({ method: 'GET', query: { go: 'true' } })
  })

  it('that declines stops the run, so that no workflow takes it for a yes', async () => {
    const { open, answer, until } = await gated(
      ONCE,
      detailed({ approve: { urlVariable: details.urlVariable } }),
    )
    const gate = await open()
    expect(await answer(gate, { action: 'decline' })).toEqual({ kind: 'delivered' })
    expect((await until(over)).state).toBe('cancelled')
    expect(await answer(gate, { action: 'decline' })).toEqual({ kind: 'delivered' })
    expect(await answer(gate, accept({}))).toEqual({ kind: 'too_late' })
  })

  it('that declines is sent where the configuration says what', async () => {
    const { open, answer, until } = await gated(
      ONCE,
      detailed({ approve: { ...details, decline: { approved: false } } }),
    )
    expect(await answer(await open(), { action: 'decline' })).toEqual({ kind: 'delivered' })
    expect((await until(over)).output).toMatchObject({ body: { approved: false } })
  })

  it('is not sent when nobody waits, since Google keeps it for the next wait', async () => {
    const pause = held()
    const { open, answer, until, emulator } = await gated(
      twice(pause.promise),
      detailed({ approve: details }),
    )
    const first = await open()
    await fetch(emulator.callbacks()[0]!.url, { method: 'POST', body: '{"by":"somebody else"}' })
    await until((seen) => seen.state === 'running')
    emulator.resetCalls()
    expect(await answer(first, accept({ go: 1 }))).toEqual({ kind: 'too_late' })
    expect(emulator.calls().byOperation.SendCallback).toBeUndefined()
    pause.resolve()
    const second = await open()
    expect(await answer(second, accept({ go: 2 }))).toEqual({ kind: 'delivered' })
    expect((await until(over)).output).toEqual({ first: { by: 'somebody else' }, second: { go: 2 } })
  })

  it('whose receipt is lost is not called late or delivered where no history tells', async () => {
    const { open, answer, until, emulator } = await gated(ONCE, { gates: { approve: {} } })
    const gate = await open()
    emulator.faults.next('SendCallback', { kind: 'dropAfterExecuting' })
    expect((await answer(gate, accept({ go: 1 }))).kind).toBe('failed')
    await until(over)
    expect(await answer(gate, accept({ go: 1 }))).toMatchObject({
      kind: 'failed',
      error: { code: 'unknown_outcome' },
    })
    expect(await answer(gate, accept({ go: 2 }))).toEqual({ kind: 'too_late' })
  })

  it('never goes to a host that is not Google’s, or to another execution', async () => {
    for (const url of [
      'https://workflowexecutions.googleapis.com.evil.example/v1/x',
      'http://127.0.0.1:1/v1/x',
      'https://user@workflowexecutions.googleapis.com/v1/x',
    ]) {
      const call = () => url
      const steps: SimulatedStep[] = [
        { step: 'create', createCallback: 'details' },
        {
          step: 'forge',
          call: ({ details: real }) => ({
            url: `${call().replace('/v1/x', '')}${new URL((real as { url: string }).url).pathname}`,
          }),
          result: 'forged',
        },
        { step: 'approve', awaitCallback: 'details' },
      ]
      const { open, answer, emulator } = await gated(
        steps,
        detailed({ approve: { urlVariable: 'forged.url' } }),
      )
      const gate = await open()
      const result = await answer(gate, accept({}))
      expect(result).toMatchObject({ kind: 'failed', error: { code: 'misconfigured' } })
      expect(JSON.stringify(result)).not.toContain(emulator.callbacks()[0]!.id)
      expect(emulator.calls().byOperation.SendCallback).toBeUndefined()
    }
  })

  it('is not called late while its step waits and the URL is wrong', async () => {
    const { open, answer, emulator } = await gated(ONCE, { gates: { approve: {} } })
    const gate = await open()
    emulator.faults.next('SendCallback', { kind: 'error', status: 'NOT_FOUND' })
    expect(await answer(gate, accept({}))).toMatchObject({ kind: 'failed', error: { code: 'misconfigured' } })
    expect(await answer(gate, accept({}))).toEqual({ kind: 'delivered' })
  })

  it('is refused for a gate that is none', async () => {
    const { answer, open } = await gated(ONCE, detailed({ approve: details }))
    const gate = await open()
    for (const other of [
      { ...gate, id: 'event-3' },
      { ...gate, step: 'nowhere' },
      { ...gate, id: 'entry-x' },
    ]) {
      expect(await answer(other, accept({}))).toMatchObject({
        kind: 'failed',
        error: { code: 'invalid_input' },
      })
    }
  })

  it('and what it is about never show the callback', async () => {
    const world = await gated(twice(), {
      gates: { approve: {} },
    })
    const gate = await world.open()
    const [callback] = world.emulator.callbacks()
    expect(JSON.stringify([gate, world.warnings])).not.toContain(callback!.id)
  })
})
