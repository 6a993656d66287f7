import { setTimeout as delay } from 'node:timers/promises'
import type { Callback } from './callbacks.js'
import { createHistory, type History } from './history.js'
import { Raised, type Running, runRoutine } from './run-steps.js'
import type { HistoryLevel, SimulatedWorkflow } from './simulated.js'

type ExecutionState = 'QUEUED' | 'ACTIVE' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED'

interface ExecutionError {
  readonly payload: string
  readonly context: string
  readonly frames: readonly { readonly routine: string; readonly step: string }[]
}

export interface ExecutionOptions {
  readonly name: string
  readonly workflow: SimulatedWorkflow
  readonly argument: string
  readonly labels: Readonly<Record<string, string>>
  readonly callLogLevel: string
  readonly historyLevel: HistoryLevel
  readonly now: () => number
  callbackUrl(callback: Callback): string
  /** Told once the execution has ended. */
  onEnd(): void
}

/** One execution. It runs from `begin` on; until then it is queued. */
export interface Execution extends Omit<ExecutionOptions, 'workflow' | 'now' | 'callbackUrl' | 'onEnd'> {
  readonly revisionId: string
  readonly startTime: number
  readonly endTime: number | undefined
  readonly state: ExecutionState
  readonly result: string | undefined
  readonly error: ExecutionError | undefined
  readonly steps: readonly { readonly routine: string; readonly step: string }[]
  readonly callbacks: ReadonlyMap<string, Callback>
  readonly history: History
  begin(): void
  /** Asks it to stop; how long it goes on is the workflow's. False when it has ended. */
  cancel(): boolean
  /** Resolves at the end. */
  ended(): Promise<void>
  discard(): void
}

export function createExecution(options: ExecutionOptions): Execution {
  const { workflow, now } = options
  const startTime = now()
  const ending = new AbortController()
  const callbacks = new Map<string, Callback>()
  const current = new Set<{ routine: string; step: string }>()
  const history = createHistory(options.historyLevel, now)
  let last: readonly { routine: string; step: string }[] = []
  let state: ExecutionState = 'QUEUED'
  let endTime: number | undefined
  let result: string | undefined
  let error: ExecutionError | undefined
  let settle: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    settle = resolve
  })

  const over = () => endTime !== undefined

  function end(as: ExecutionState): void {
    if (over()) return
    last = [...current]
    state = as
    endTime = now()
    callbacks.clear()
    history.close(as === 'CANCELLED' ? 'STATE_CANCELLED' : 'STATE_FAILED')
    ending.abort()
    settle()
    options.onEnd()
  }

  async function run(): Promise<void> {
    const variables: Record<string, unknown> = { input: JSON.parse(options.argument || 'null') }
    const { callbackUrl } = options
    const running: Running = { variables, history, callbacks, current, signal: ending.signal, callbackUrl }
    try {
      const value = await runRoutine(running, 'main', workflow.steps)
      if (!over()) result = JSON.stringify(value ?? null)
      end('SUCCEEDED')
    } catch (thrown) {
      if (over() || !(thrown instanceof Raised)) return
      error = errorOf(thrown)
      end('FAILED')
      last = thrown.frames
    }
  }

  return {
    name: options.name,
    argument: options.argument,
    labels: options.labels,
    callLogLevel: options.callLogLevel,
    historyLevel: options.historyLevel,
    revisionId: workflow.revisionId ?? '000001-000',
    startTime,
    callbacks,
    history,
    get endTime() {
      return endTime
    },
    get state() {
      return state
    },
    get result() {
      return result
    },
    get error() {
      return error
    },
    get steps() {
      return over() ? last : [...current]
    },
    begin() {
      if (state !== 'QUEUED') return
      state = 'ACTIVE'
      void run()
    },
    cancel() {
      if (over()) return false
      const wait = workflow.stopsAfterMs ?? 0
      if (wait === 0 || state === 'QUEUED') end('CANCELLED')
      else
        void delay(wait, undefined, { signal: ending.signal }).then(
          () => end('CANCELLED'),
          () => undefined,
        )
      return true
    },
    ended: () => ended,
    discard() {
      endTime ??= now()
      ending.abort()
    },
  }
}

/** The payload as JSON, and the trace with the innermost step first. */
function errorOf({ payload, frames }: Raised): ExecutionError {
  const message = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const lines = frames.map(({ routine, step }) => `in step "${step}", routine "${routine}"`)
  return {
    payload: JSON.stringify(payload),
    context: [`RuntimeError: ${message}`, ...lines].join('\n'),
    frames: [...frames],
  }
}
