import type { Backend, Capabilities, Workflow } from '../backend.js'
import type { JsonObject } from '../json.js'
import type { RunRef } from '../run.js'

/**
 * What an engine does to the calls that reach it. `lost_after`: the request takes effect and its answer is
 * lost; `lost_before`: the request is lost. The others answer as the engine does then, without any effect.
 */
export type EngineFault = 'lost_after' | 'lost_before' | 'throttled' | 'denied' | 'expired' | 'down'

/** Which calls a fault meets. `read` is everything that `find` and `get` send. */
export type EngineCall = 'start' | 'read' | 'cancel' | 'answer' | 'call'

/** An engine for one test, real or a stand-in, with the workflows that the suite needs. */
export interface BackendHarness<W extends Workflow = Workflow> {
  /** A new instance on the same engine, as another replica would have it. */
  instance(): Backend<W>
  readonly workflows: {
    /** Succeeds at once; its output is its input. */
    readonly echoes: W
    /** Fails at once, as `failure` says. */
    readonly fails: W
    /** Goes on until it is cancelled. Needed where `cancel` is. */
    readonly endless?: W
    /** Opens one gate at once, and succeeds with what an accepted answer holds. Needed where `gates` are. */
    readonly waits?: W
    /** Bound like the others, and unknown to the engine. */
    readonly missing: W
  }
  /** Two inputs that every workflow takes. */
  readonly inputs: readonly [JsonObject, JsonObject]
  readonly failure: { readonly code: string; readonly step?: string }
  /** Two answers that fit the gate of `waits`. */
  readonly answers?: readonly [JsonObject, JsonObject]
  /** Lets the engine get on by a little: moves its clock, or waits for real. */
  advance(): Promise<void>
  /** How many executions the engine ever began, whatever it told. */
  executions(): number | Promise<number>
  /** Every such call meets the fault until `restore`. */
  fault(on: EngineCall, fault: EngineFault): void | Promise<void>
  restore(): void | Promise<void>
  /** Makes the engine forget a run while it keeps the workflow. */
  forget?(run: RunRef): void | Promise<void>
  /** Makes the engine run an ended run again, as another attempt. */
  retry?(run: RunRef): void | Promise<void>
  /** Every secret that the engine gave out so far, such as the tokens of gates. */
  secrets?(): readonly string[]
  close?(): void | Promise<void>
}

export interface EngineCapabilities {
  /** A run can be forgotten while its workflow is kept (`forget`). Without it that is not tested. */
  readonly forgets: boolean
  /** An ended run can be run again, as another attempt (`retry`). Without it that is not tested. */
  readonly retries: boolean
  /** The backend can watch runs that were started elsewhere (`attach`). Default false: not tested. */
  readonly attaches?: boolean
}

export interface BackendSuiteOptions<W extends Workflow = Workflow> {
  readonly name: string
  /** What the backend promises for the workflows of the harness. */
  readonly capabilities: Capabilities
  readonly engine: EngineCapabilities
  /** Called before every test. */
  open(): BackendHarness<W> | Promise<BackendHarness<W>>
  /** Of each test, in ms. Default: the runner's. */
  readonly timeoutMs?: number
}
