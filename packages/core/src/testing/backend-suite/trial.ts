import assert from 'node:assert/strict'
import type { Backend, GetContext, GetResult, OwnerContext, Workflow } from '../../backend.js'
import { RunbridgeError } from '../../errors.js'
import { canonicalJson, type Json } from '../../json.js'
import { isTerminal, type Marks, type RunRef, type Snapshot } from '../../run.js'
import { LOCAL_OWNER } from '../../task.js'
import type { BackendHarness, BackendSuiteOptions, EngineFault } from '../backend-harness.js'

/** How one group of tests is registered: each test gets an engine of its own. */
export interface BackendTests<W extends Workflow> {
  readonly options: BackendSuiteOptions<W>
  it(name: string, test: (trial: Trial<W>) => Promise<void>): void
}

/** What one test works with. */
export interface Trial<W extends Workflow> {
  readonly engine: BackendHarness<W>
  readonly backend: Backend<W>
  readonly context: OwnerContext
  look(extra?: Partial<GetContext>): GetContext
  /** A run key that was never used. */
  key(): string
  /** Starts a run with the first input. */
  started(workflow: W, runKey?: string): Promise<RunRef>
  /** Looks, as the service does, until the run is seen in the state that is waited for. */
  follow(
    workflow: W,
    run: RunRef,
    until: (snapshot: Snapshot) => boolean,
    options?: { readonly gates?: boolean; readonly backend?: Backend<W> },
  ): Promise<Snapshot>
  /** Looks until the run has ended. */
  end(workflow: W, run: RunRef, backend?: Backend<W>): Promise<Snapshot>
  /** Looks until the engine shows the run under the key. */
  found(workflow: W, runKey: string, backend?: Backend<W>): Promise<RunRef>
  /** The result is of this kind and its error can be shown. */
  tells(result: { readonly kind: string; readonly error?: RunbridgeError }, kind: string): void
}

/** Answers of the engine that say that it did nothing. */
export const DENIALS = ['throttled', 'denied', 'expired'] as const satisfies readonly EngineFault[]
export const OUTAGES = [...DENIALS, 'down'] as const satisfies readonly EngineFault[]
/** How often a test looks before it gives up; the harness decides how long that is. */
const LOOKS = 300

let lastKey = 0

export function newTrial<W extends Workflow>(engine: BackendHarness<W>): Trial<W> {
  const { signal } = new AbortController()
  const backend = engine.instance()

  function noSecrets(shown: unknown): void {
    const text = JSON.stringify(shown, (_, value) =>
      value instanceof Error ? { message: value.message } : value,
    )
    for (const secret of engine.secrets?.() ?? []) {
      assert.ok(!text.includes(secret), 'a secret of the engine is shown')
    }
  }

  const trial: Trial<W> = {
    engine,
    backend,
    context: { signal, owner: LOCAL_OWNER },
    look: (extra = {}) => ({ signal, owner: LOCAL_OWNER, gates: false, progress: true, ...extra }),
    key: () => `rb-suite-${process.pid}-${Date.now().toString(36)}-${++lastKey}`,
    async started(workflow, runKey = trial.key()) {
      const result = await backend.start(workflow, runKey, engine.inputs[0], trial.context)
      if (result.kind !== 'started') throw new Error(`The run did not start: ${result.error.message}`)
      return result.run
    },
    async follow(workflow, run, until, { gates = false, backend: reader = backend } = {}) {
      let marks: Marks | undefined
      let last: GetResult | undefined
      for (let looks = 0; looks < LOOKS; looks += 1) {
        last = await reader.get(workflow, run, trial.look({ gates, ...(marks && { marks }) }))
        noSecrets(last)
        if (last.kind === 'snapshot') {
          if (until(last.snapshot)) return last.snapshot
          marks = last.marks ?? marks
        }
        await engine.advance()
      }
      throw new Error(`The run was not seen in the state that is waited for; last: ${JSON.stringify(last)}`)
    },
    end: (workflow, run, reader = backend) =>
      trial.follow(workflow, run, (snapshot) => isTerminal(snapshot.state), { gates: true, backend: reader }),
    async found(workflow, runKey, reader = backend) {
      for (let looks = 0; looks < LOOKS; looks += 1) {
        const result = await reader.find(workflow, runKey, trial.context)
        if (result.kind === 'found') return result.run
        assert.equal(result.kind, 'absent')
        await engine.advance()
      }
      throw new Error(`The run under ${runKey} was not found.`)
    },
    tells(result, kind) {
      assert.equal(result.kind, kind)
      assert.ok(result.error instanceof RunbridgeError, 'the error is a RunbridgeError')
      assert.ok(result.error.message.length > 0, 'the error says something')
      noSecrets(result)
    },
  }
  return trial
}

export function sameJson(actual: Json | undefined, expected: Json): void {
  assert.equal(canonicalJson(actual), canonicalJson(expected))
}
