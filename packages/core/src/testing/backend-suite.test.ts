import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AttachResult, Backend, Capabilities } from '../backend.js'
import { DEFAULT_CAPABILITIES } from '../backend.js'
import { RunbridgeError } from '../errors.js'
import type { BackendHarness, BackendSuiteOptions, EngineCall, EngineFault } from './backend-harness.js'
import { backendSuite } from './backend-suite.js'
import { type FakeBackend, type FakeMethod, fakeBackend } from './fake-backend.js'
import type { SuiteRunner } from './runner.js'

const runner: SuiteRunner = { describe, it, beforeAll, afterAll, beforeEach, afterEach }
const SECRET = 'token-of-the-engine'
const IDEMPOTENT: Capabilities = { ...DEFAULT_CAPABILITIES, start: 'idempotent', gates: true }

const METHODS: Record<EngineCall, readonly FakeMethod[]> = {
  start: ['start'],
  read: ['describe', 'find', 'get', 'attach'],
  cancel: ['cancel'],
  answer: ['answer'],
  call: ['call'],
}
const CODES = {
  throttled: 'throttled',
  denied: 'denied',
  expired: 'unauthenticated',
  down: 'unavailable',
} as const

/** The fake engine behind the suite's harness, and a way to break its backend. */
function harness(
  capabilities: Capabilities,
  broken: (sound: Backend, fake: FakeBackend) => Partial<Backend>,
) {
  let now = 1_700_000_000_000
  const fake = fakeBackend({ clock: { now: () => now }, capabilities })
  let fault: { on: EngineCall; what: EngineFault } | undefined

  /** What the fault makes of a call, or undefined where it does not meet it. */
  const met = (method: FakeMethod) => (fault && METHODS[fault.on].includes(method) ? fault.what : undefined)
  const error = (what: EngineFault) =>
    new RunbridgeError(
      what in CODES ? CODES[what as keyof typeof CODES] : 'unknown_outcome',
      `The engine is ${what}.`,
    )
  const missing = new RunbridgeError('workflow_not_found', 'The engine has no such workflow.')

  const sound: Backend = {
    ...fake,
    async describe(workflow, context) {
      const what = met('describe')
      if (what) throw error(what)
      if (workflow.id === 'missing') throw missing
      return fake.describe(workflow, context)
    },
    async attach(workflow, reference, context) {
      const what = met('attach')
      if (what) return { kind: 'refused', error: error(what) }
      return fake.attach?.(workflow, reference, context) as Promise<AttachResult>
    },
    async start(workflow, runKey, input, context) {
      if (workflow.id === 'missing') return { kind: 'refused', error: missing }
      const what = met('start')
      if (what === 'lost_after') fake.script('start', 'unknown_but_happened')
      else if (what === 'lost_before' || what === 'down') return { kind: 'unknown', error: error(what) }
      else if (what) return { kind: 'refused', error: error(what) }
      const known = fake.runs.has(runKey)
      const result = await fake.start(workflow, runKey, input, context)
      if (known || !fake.runs.has(runKey)) return result
      if (workflow.id === 'echoes') fake.set(runKey, { state: 'succeeded', output: input })
      if (workflow.id === 'fails') {
        fake.set(runKey, { state: 'failed', error: { code: 'Boom', message: 'It broke.', step: 'Break' } })
      }
      if (workflow.id === 'waits') fake.openGate(runKey, { id: 'gate-1' })
      return result
    },
    async find(workflow, runKey, context) {
      const what = met('find') ?? (workflow.id === 'missing' ? 'denied' : undefined)
      return what ? { kind: 'unreadable', error: error(what) } : fake.find(workflow, runKey, context)
    },
    async get(workflow, run, context) {
      const what = met('get') ?? (workflow.id === 'missing' ? 'denied' : undefined)
      return what ? { kind: 'unreadable', error: error(what) } : fake.get(workflow, run, context)
    },
    async cancel(workflow, run, reason, context) {
      const what = met('cancel')
      return what ? { kind: 'failed', error: error(what) } : fake.cancel(workflow, run, reason, context)
    },
    async answer(workflow, run, gate, response, context) {
      const what = met('answer')
      if (what === 'lost_after') fake.script('answer', 'failed_but_delivered')
      else if (what) return { kind: 'failed', error: error(what) }
      const result = await fake.answer(workflow, run, gate, response, context)
      const target = fake.executions.find((one) => one.ref.id === run.id)
      const given = target?.answers.get(gate.id)
      if (target?.snapshot.state === 'running' && given) {
        const outcome =
          given.action === 'accept' ? { state: 'succeeded', output: given.content } : { state: 'failed' }
        fake.set(target.runKey, outcome as { state: 'succeeded' })
      }
      return result
    },
    async call(workflow, input, context) {
      if (workflow.id === 'missing') return { kind: 'refused', error: missing }
      const what = met('call')
      if (what === 'lost_after' || (!what && !context.signal.aborted)) {
        await fake.start(workflow, `call-${fake.executions.length}`, input, context)
      }
      if (what === 'lost_after' || what === 'lost_before' || what === 'down') {
        return { kind: 'unknown', error: error(what) }
      }
      if (what) return { kind: 'refused', error: error(what) }
      if (workflow.id === 'fails') {
        const failed = { state: 'failed', nativeState: 'FAILED', gates: [], links: [] } as const
        return { kind: 'ended', snapshot: { ...failed, error: { code: 'Boom', message: '' } } }
      }
      return fake.call!(workflow, input, context)
    },
  }
  const engine: BackendHarness = {
    instance: () => ({ ...sound, ...broken(sound, fake) }),
    workflows: {
      echoes: { id: 'echoes' },
      fails: { id: 'fails' },
      endless: { id: 'endless' },
      waits: { id: 'waits' },
      missing: { id: 'missing' },
    },
    inputs: [{ n: 1 }, { n: 2 }],
    failure: { code: 'Boom', step: 'Break' },
    answers: [{ approve: true }, { approve: false }],
    advance: async () => {
      now += 1000
    },
    executions: () => fake.executions.length,
    fault: (on, what) => {
      fault = { on, what }
    },
    restore: () => {
      fault = undefined
    },
    forget: (run) => fake.forget(fake.executions.find((one) => one.ref.id === run.id)!.runKey),
    secrets: () => [SECRET],
  }
  return engine
}

function suiteOf(
  name: string,
  capabilities: Capabilities,
  broken: (sound: Backend, fake: FakeBackend) => Partial<Backend> = () => ({}),
): BackendSuiteOptions {
  const engine = { forgets: true, retries: false, attaches: true }
  return { name, capabilities, engine, open: () => harness(capabilities, broken) }
}

backendSuite(runner, suiteOf('fake, idempotent', IDEMPOTENT))
backendSuite(runner, suiteOf('fake, findable', { ...IDEMPOTENT, start: 'findable', gates: false }))
backendSuite(runner, suiteOf('fake, blind', { ...IDEMPOTENT, start: 'blind', cancel: false }))
backendSuite(runner, suiteOf('fake, calls', { ...IDEMPOTENT, start: 'blind', execution: 'call' }))

/** Registers the suite and runs what it registered; returns the names of the tests that failed. */
async function failures(options: BackendSuiteOptions): Promise<string[]> {
  const tests: [string, () => void | Promise<void>][] = []
  const nothing = () => undefined
  const collector: SuiteRunner = {
    describe: (_, define) => define(),
    it: (name, test) => void tests.push([name, test]),
    beforeAll: nothing,
    afterAll: nothing,
    beforeEach: nothing,
    afterEach: nothing,
  }
  backendSuite(collector, options)
  const failed: string[] = []
  for (const [name, test] of tests) {
    await Promise.resolve(test()).catch(() => failed.push(name))
  }
  return failed
}

describe('the suite finds', () => {
  const faults: Record<string, (sound: Backend, fake: FakeBackend) => Partial<Backend>> = {
    'a start that is sent twice': (sound) => ({
      async start(workflow, runKey, input, context) {
        const first = await sound.start(workflow, runKey, input, context)
        return first.kind === 'unknown' ? sound.start(workflow, `${runKey}-2`, input, context) : first
      },
    }),
    'a lost answer taken for a refusal': (sound) => ({
      async start(workflow, runKey, input, context) {
        const result = await sound.start(workflow, runKey, input, context)
        return result.kind === 'unknown' ? { ...result, kind: 'refused' } : result
      },
    }),
    'a refusal taken for a lost answer': (sound) => ({
      async start(workflow, runKey, input, context) {
        const result = await sound.start(workflow, runKey, input, context)
        return result.kind === 'refused' ? { ...result, kind: 'unknown' } : result
      },
    }),
    'an unreadable run taken for an absent one': (sound) => ({
      async find(workflow, runKey, context) {
        const result = await sound.find(workflow, runKey, context)
        return result.kind === 'unreadable' ? { kind: 'absent' } : result
      },
    }),
    'an outage taken for a failure': (sound) => ({
      async get(workflow, run, context) {
        const result = await sound.get(workflow, run, context)
        if (result.kind !== 'unreadable') return result
        const snapshot = { state: 'failed', nativeState: 'FAILED', gates: [], links: [] } as const
        return { kind: 'snapshot', snapshot }
      },
    }),
    'a get that throws': (sound) => ({
      async get(workflow, run, context) {
        const result = await sound.get(workflow, run, context)
        if (result.kind === 'unreadable') throw result.error
        return result
      },
    }),
    'an absent run that is unreadable': (sound) => ({
      async get(workflow, run, context) {
        const result = await sound.get(workflow, run, context)
        const error = new RunbridgeError('unavailable', 'It is not there.')
        return result.kind === 'absent' ? { kind: 'unreadable', error } : result
      },
    }),
    'gates that every replica names anew': (sound) => {
      const salt = Math.random().toString(36)
      return {
        async get(workflow, run, context) {
          const result = await sound.get(workflow, run, context)
          if (result.kind !== 'snapshot') return result
          const gates = result.snapshot.gates.map((gate) => ({ ...gate, id: gate.id + salt }))
          return { kind: 'snapshot', snapshot: { ...result.snapshot, gates } }
        },
      }
    },
    'a token in a prompt': (sound) => ({
      async get(workflow, run, context) {
        const result = await sound.get(workflow, run, context)
        if (result.kind !== 'snapshot') return result
        const gates = result.snapshot.gates.map((gate) => ({ ...gate, prompt: SECRET }))
        return { kind: 'snapshot', snapshot: { ...result.snapshot, gates } }
      },
    }),
    'our own answer called too late': (_, fake) => ({
      async answer(workflow, run, gate, response, context) {
        const given = fake.executions.find((one) => one.ref.id === run.id)?.answers.has(gate.id)
        return given ? { kind: 'too_late' } : fake.answer(workflow, run, gate, response, context)
      },
    }),
    'another answer called delivered': (sound) => ({
      async answer(workflow, run, gate, response, context) {
        const result = await sound.answer(workflow, run, gate, response, context)
        return result.kind === 'too_late' ? { kind: 'delivered' } : result
      },
    }),
    'a cancel that claims too much': (sound) => ({
      async cancel(workflow, run, reason, context) {
        await sound.cancel(workflow, run, reason, context)
        return { kind: 'sent' }
      },
    }),
    'a run of another workflow that is watched': (sound, fake) => ({
      async attach(workflow, reference, context) {
        const result = await sound.attach?.(workflow, reference, context)
        const run = fake.executions.find((one) => one.ref.id === reference)?.ref
        return result?.kind === 'refused' && run ? { kind: 'attached', run } : (result as AttachResult)
      },
    }),
    'an outage that is watched': (sound) => ({
      async attach(workflow, reference, context) {
        const result = (await sound.attach?.(workflow, reference, context)) as AttachResult
        const blind = result.kind === 'refused' && result.error.code !== 'invalid_input'
        return blind ? { kind: 'attached', run: { id: reference, attempt: 0 } } : result
      },
    }),
    'a signal that nobody heeds': (sound) => ({
      get: (workflow, run, context) =>
        sound.get(workflow, run, { ...context, signal: new AbortController().signal }),
    }),
    'capabilities that are not kept': (sound) => ({
      describe: async (workflow, context) => ({
        ...(await sound.describe(workflow, context)),
        capabilities: DEFAULT_CAPABILITIES,
      }),
    }),
  }
  for (const [name, broken] of Object.entries(faults)) {
    it(name, async () => {
      expect(await failures(suiteOf(name, IDEMPOTENT, broken))).not.toEqual([])
    })
  }
  it('nothing in a sound backend', async () => {
    expect(await failures(suiteOf('sound', IDEMPOTENT))).toEqual([])
  })
})
