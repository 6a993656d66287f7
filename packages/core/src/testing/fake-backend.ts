import type {
  AnswerResult,
  AttachResult,
  Backend,
  CallContext,
  CallResult,
  CancelResult,
  Capabilities,
  FindResult,
  GateResponse,
  GetResult,
  OwnerContext,
  StartResult,
  Workflow,
  WorkflowDescription,
} from '../backend.js'
import { DEFAULT_CAPABILITIES } from '../backend.js'
import { RunbridgeError } from '../errors.js'
import { canonicalJson, type JsonObject } from '../json.js'
import { type Gate, isTerminal, type Marks, type RunRef, type Snapshot } from '../run.js'
import type { Owner } from '../task.js'

/** One run in the fake engine. Its fields are for tests to change: what `get` says follows them. */
export interface FakeRun {
  ref: RunRef
  readonly workflow: string
  readonly runKey: string
  readonly input: JsonObject
  snapshot: Snapshot
  marks?: Marks
  /** From when on the engine admits the run, in ms since the epoch. */
  visibleAt: number
  /** How many more looks (`find` and `get`) are answered `absent`. */
  hiddenLooks: number
  /** By gate id: the answer that closed it. */
  readonly answers: Map<string, GateResponse>
  /** The reasons of the wishes to stop that arrived. */
  readonly cancels: string[]
}

export interface ScriptedResults {
  /** A word, or a result to hand back as it is without any effect. */
  start: 'started' | 'refused' | 'unknown_but_happened' | 'unknown_and_nothing_happened' | StartResult
  find: FindResult
  get: GetResult
  /** `sent_in_vain`: the engine takes the wish and the run goes on. */
  cancel: 'sent_in_vain' | CancelResult
  /** `failed_but_delivered`: the gate closes with this answer, and the caller is told a failure. */
  answer: 'failed_but_delivered' | AnswerResult
  attach: AttachResult
  call: CallResult
  describe: WorkflowDescription
}

export type FakeMethod = keyof ScriptedResults

export interface FakeCall {
  readonly method: FakeMethod
  readonly workflow: string
  /** Whom the call was made for; absent for `describe`. */
  readonly owner?: Owner
  /** ms since the epoch. */
  readonly at: number
  readonly runKey?: string
  readonly run?: RunRef
  readonly gate?: Gate
  readonly response?: GateResponse
  readonly reason?: string
  readonly escalation?: number
  readonly reference?: string
  readonly input?: JsonObject
  readonly marks?: Marks
}

/** A call that arrived at the engine and stays unanswered until it is released. */
export interface HeldCall<M extends FakeMethod> {
  /** Resolves when the call has arrived. */
  readonly arrived: Promise<void>
  /** Lets it go on, as unscripted where no result is named. */
  release(result?: ScriptedResults[M]): void
}

export interface FakeBackendOptions {
  /** The time of starts, ends and visibility. */
  readonly clock: { now(): number }
  /** Default `fake`. */
  readonly name?: string
  /** Over the defaults of the port, except `start` (`idempotent`) and `gates` (true). */
  readonly capabilities?: Partial<Capabilities>
  /** What the port promises, in ms. Default 5000. */
  readonly visibilityMs?: number
  /** How long new runs really stay invisible, in ms. Default 0. */
  readonly hiddenMs?: number
  /** How many looks a new run really stays invisible. Default 0. */
  readonly hiddenLooks?: number
  readonly maxRunMs?: number
  readonly description?: Omit<WorkflowDescription, 'capabilities'>
  /** As the port has it. Default false. */
  readonly actsAsOwner?: boolean
}

export interface FakeBackend extends Backend {
  /** Change them at will. */
  capabilities: Capabilities
  /** What is applied to runs that start from now on. */
  hiddenMs: number
  hiddenLooks: number
  /** The last run started under each run key. */
  readonly runs: Map<string, FakeRun>
  /** Every execution ever started, so that a second one under the same key shows. */
  readonly executions: FakeRun[]
  readonly calls: FakeCall[]
  callsOf(method: FakeMethod): FakeCall[]
  /** Queues what the next calls of a method come to; after the queue the engine behaves. */
  script<M extends FakeMethod>(method: M, ...results: ScriptedResults[M][]): void
  /** Queues a call that hangs until it is released; an abort of a start in it is `unknown`. */
  hold<M extends FakeMethod>(method: M): HeldCall<M>
  /** What `get` says from now on: the changes are laid over the present snapshot. */
  set(runKey: string, changes: Partial<Snapshot>): void
  openGate(runKey: string, gate: Partial<Gate> & Pick<Gate, 'id'>): Gate
  closeGate(runKey: string, gateId: string): void
  /** The engine no longer knows the run. */
  forget(runKey: string): void
}

type Entry<M extends FakeMethod> = () => Promise<ScriptedResults[M] | undefined>

/** An engine in memory that behaves, unless a script says what a call comes to. For unit tests. */
export function fakeBackend(options: FakeBackendOptions): FakeBackend {
  const { clock } = options
  const queues: { [M in FakeMethod]?: Entry<M>[] } = {}
  const runs = new Map<string, FakeRun>()
  const executions: FakeRun[] = []
  const calls: FakeCall[] = []

  const queue = <M extends FakeMethod>(method: M): Entry<M>[] => {
    const entries: Entry<M>[] = (queues[method] as Entry<M>[] | undefined) ?? []
    Object.assign(queues, { [method]: entries })
    return entries
  }

  /** Records the call and says what the script has for it; `aborted` when the caller left a held call. */
  async function arrive<M extends FakeMethod>(
    method: M,
    workflow: Workflow,
    { signal, owner }: CallContext & Partial<OwnerContext>,
    details: Partial<FakeCall> = {},
  ): Promise<ScriptedResults[M] | 'aborted' | undefined> {
    calls.push({
      method,
      workflow: workflow.id,
      at: clock.now(),
      ...(owner !== undefined && { owner }),
      ...details,
    })
    const entry = queue(method).shift()
    if (signal.aborted) return 'aborted'
    if (entry === undefined) return undefined
    const left = new Promise<'aborted'>((resolve) => {
      signal.addEventListener('abort', () => resolve('aborted'), { once: true })
    })
    return Promise.race([entry(), left])
  }

  function run(runKey: string): FakeRun {
    const present = runs.get(runKey)
    if (!present) throw new Error(`The fake engine knows no run with the key ${runKey}.`)
    return present
  }

  function begin(workflow: Workflow, runKey: string, input: JsonObject): FakeRun {
    const begun: FakeRun = {
      ref: { id: `run-${executions.length + 1}`, attempt: 0 },
      workflow: workflow.id,
      runKey,
      input,
      snapshot: { state: 'running', nativeState: 'RUNNING', gates: [], links: [], startedAt: clock.now() },
      visibleAt: clock.now() + backend.hiddenMs,
      hiddenLooks: backend.hiddenLooks,
      answers: new Map(),
      cancels: [],
    }
    executions.push(begun)
    runs.set(runKey, begun)
    return begun
  }

  /** What an engine does with a start that reaches it. */
  function admit(workflow: Workflow, runKey: string, input: JsonObject): StartResult {
    const same = backend.capabilities.start === 'idempotent' ? runs.get(runKey) : undefined
    if (!same) return { kind: 'started', run: begin(workflow, runKey, input).ref }
    if (canonicalJson(same.input) === canonicalJson(input)) return { kind: 'started', run: same.ref }
    return failure('refused', 'conflict', `Another input already runs under ${runKey}.`)
  }

  function seen(candidates: FakeRun[]): FakeRun[] {
    return candidates.filter((candidate) => {
      if (candidate.hiddenLooks > 0) {
        candidate.hiddenLooks -= 1
        return false
      }
      return candidate.visibleAt <= clock.now()
    })
  }

  const byRef = (ref: RunRef) => executions.filter((one) => one.ref.id === ref.id)
  const waitingOf = (gates: readonly Gate[]): Partial<Snapshot> => ({
    gates,
    state: gates.length > 0 ? 'waiting' : 'running',
  })
  const gone = 'The caller left before the engine answered.'

  const backend: FakeBackend = {
    name: options.name ?? 'fake',
    visibilityMs: options.visibilityMs ?? 5000,
    ...(options.maxRunMs === undefined ? {} : { maxRunMs: options.maxRunMs }),
    ...(options.actsAsOwner && { actsAsOwner: true }),
    capabilities: { ...DEFAULT_CAPABILITIES, start: 'idempotent', gates: true, ...options.capabilities },
    hiddenMs: options.hiddenMs ?? 0,
    hiddenLooks: options.hiddenLooks ?? 0,
    runs,
    executions,
    calls,
    callsOf: (method) => calls.filter((call) => call.method === method),

    script(method, ...results) {
      queue(method).push(...results.map((result) => async () => result))
    },
    hold<M extends FakeMethod>(method: M): HeldCall<M> {
      const held = deferred<ScriptedResults[M] | undefined>()
      const arrived = new Promise<void>((resolve) => {
        queue(method).push(() => {
          resolve()
          return held.promise
        })
      })
      return { arrived, release: (result) => held.resolve(result) }
    },
    set(runKey, changes) {
      const changed = run(runKey)
      const ended = changes.state !== undefined && isTerminal(changes.state)
      const end = ended ? { gates: [], nativeState: changes.state.toUpperCase(), endedAt: clock.now() } : {}
      changed.snapshot = { ...changed.snapshot, ...end, ...changes }
    },
    openGate(runKey, gate) {
      const opened: Gate = { step: gate.id, prompt: `Approve ${gate.id}?`, schema: APPROVAL, ...gate }
      backend.set(runKey, waitingOf([...run(runKey).snapshot.gates, opened]))
      return opened
    },
    closeGate(runKey, gateId) {
      backend.set(runKey, waitingOf(run(runKey).snapshot.gates.filter((gate) => gate.id !== gateId)))
    },
    forget(runKey) {
      const forgotten = run(runKey)
      runs.delete(runKey)
      executions.splice(executions.indexOf(forgotten), 1)
    },

    references: 'the id of a run',

    async describe(workflow, context) {
      const scripted = await arrive('describe', workflow, context)
      if (scripted === 'aborted') throw new RunbridgeError('unavailable', gone)
      return scripted ?? { ...options.description, capabilities: backend.capabilities }
    },

    async start(workflow, runKey, input, context) {
      const scripted = await arrive('start', workflow, context, { runKey, input })
      switch (scripted) {
        case undefined:
        case 'started':
          return admit(workflow, runKey, input)
        case 'refused':
          return failure('refused', 'denied', 'The fake engine refuses to start.')
        case 'unknown_but_happened':
          admit(workflow, runKey, input)
          return failure('unknown', 'unavailable', 'The answer of the fake engine was lost.')
        case 'unknown_and_nothing_happened':
          return failure('unknown', 'unavailable', 'The fake engine was not reached.')
        case 'aborted':
          return failure('unknown', 'unknown_outcome', gone)
        default:
          return scripted
      }
    },

    async find(workflow, runKey, context) {
      const scripted = await arrive('find', workflow, context, { runKey })
      if (scripted === 'aborted') return failure('unreadable', 'unavailable', gone)
      if (scripted) return scripted
      if (backend.capabilities.start === 'blind') return { kind: 'absent' }
      const found = seen(executions.filter((one) => one.runKey === runKey))
      if (found.length > 1) return { kind: 'ambiguous', runs: found.map((one) => one.ref) }
      return found[0] ? { kind: 'found', run: found[0].ref } : { kind: 'absent' }
    },

    async get(workflow, ref, context) {
      const { gates, progress, marks } = context
      const scripted = await arrive('get', workflow, context, { run: ref, ...(marks && { marks }) })
      if (scripted === 'aborted') return failure('unreadable', 'unavailable', gone)
      if (scripted) return scripted
      const [found] = seen(byRef(ref))
      if (!found) return { kind: 'absent' }
      const { progress: message, ...rest } = found.snapshot
      const shown = gates || rest.state !== 'waiting' ? rest : { ...rest, ...waitingOf([]) }
      return {
        kind: 'snapshot',
        snapshot: { ...shown, ...(progress && message ? { progress: message } : {}) },
        ...(found.marks ? { marks: found.marks } : {}),
      }
    },

    async cancel(workflow, ref, reason, context) {
      const { escalation = 0 } = context
      const scripted = await arrive('cancel', workflow, context, { run: ref, reason, escalation })
      if (scripted === 'aborted') return failure('failed', 'unknown_outcome', gone)
      if (scripted !== undefined && scripted !== 'sent_in_vain') return scripted
      const [target] = byRef(ref)
      if (!target || isTerminal(target.snapshot.state)) return { kind: 'too_late' }
      target.cancels.push(reason)
      if (scripted === undefined) backend.set(target.runKey, { state: 'cancelled' })
      return { kind: 'sent' }
    },

    async answer(workflow, ref, gate, response, context) {
      const scripted = await arrive('answer', workflow, context, { run: ref, gate, response })
      if (scripted === 'aborted') return failure('failed', 'unknown_outcome', gone)
      if (scripted !== undefined && scripted !== 'failed_but_delivered') return scripted
      const [target] = byRef(ref)
      const earlier = target?.answers.get(gate.id)
      if (earlier) {
        return { kind: JSON.stringify(earlier) === JSON.stringify(response) ? 'delivered' : 'too_late' }
      }
      if (!target?.snapshot.gates.some((open) => open.id === gate.id)) return { kind: 'too_late' }
      target.answers.set(gate.id, response)
      backend.closeGate(target.runKey, gate.id)
      if (scripted === undefined) return { kind: 'delivered' }
      return failure('failed', 'unavailable', 'The answer of the fake engine was lost.')
    },

    async attach(workflow, reference, context) {
      const scripted = await arrive('attach', workflow, context, { reference })
      if (scripted === 'aborted') return failure('refused', 'unavailable', gone)
      if (scripted) return scripted
      const found = executions.findLast(({ ref }) => ref.id === reference)
      if (found?.workflow === workflow.id) return { kind: 'attached', run: found.ref }
      return failure('refused', 'invalid_input', `The fake engine has no run ${reference} of ${workflow.id}.`)
    },

    async call(workflow, input, context) {
      const scripted = await arrive('call', workflow, context, { input })
      if (scripted === 'aborted') return failure('unknown', 'unknown_outcome', gone)
      if (scripted) return scripted
      const now = clock.now()
      const ended = { state: 'succeeded', nativeState: 'SUCCEEDED', startedAt: now, endedAt: now } as const
      return { kind: 'ended', snapshot: { ...ended, output: input, gates: [], links: [] } }
    },
  }
  return backend
}

const APPROVAL: Gate['schema'] = {
  type: 'object',
  properties: { approve: { type: 'boolean' } },
  required: ['approve'],
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: (value: T) => void = () => undefined
  const promise = new Promise<T>((resolve) => {
    settle = resolve
  })
  return { promise, resolve: settle }
}

function failure<K extends string>(kind: K, code: RunbridgeError['code'], message: string) {
  return { kind, error: new RunbridgeError(code, message) }
}
