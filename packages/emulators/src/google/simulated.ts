/** A value in a definition. A text that is only `$path.to.value` stands for that variable; `input` is the argument. */
export type Value = unknown

export interface Variables {
  readonly [name: string]: unknown
}

interface Named {
  /** The step's name. */
  readonly step: string
  /** How long the step takes before it acts, in ms. Default 0. */
  readonly ms?: number
}

/** One step: it takes its time, then does one thing. */
export type SimulatedStep = Named &
  (
    | { readonly assign?: Readonly<Record<string, Value>> }
    /** Ends the run (or the subworkflow) with this value. */
    | { readonly return: Value }
    /** Fails the run: a text or a map, as `raise` has it. */
    | { readonly raise: Value }
    /** `events.create_callback_endpoint`: the variable that gets `{ url }`. */
    | { readonly createCallback: string; readonly method?: string }
    /** `events.await_callback` on that variable; the request goes to the variable `result`. */
    | { readonly awaitCallback: string; readonly result?: string; readonly timeoutMs?: number }
    /** A call whose answer goes to the variable `result`. Only for definitions in code. */
    | { readonly call: (variables: Variables) => unknown; readonly result?: string }
    /** A subworkflow. */
    | { readonly routine: string; readonly steps: readonly SimulatedStep[]; readonly result?: string }
    /** The steps again and again. */
    | { readonly for: number; readonly steps: readonly SimulatedStep[] }
    /** Branches at the same time, by name. */
    | { readonly parallel: Readonly<Record<string, readonly SimulatedStep[]>> }
  )

export const HISTORY_LEVELS = [
  'EXECUTION_HISTORY_LEVEL_UNSPECIFIED',
  'EXECUTION_HISTORY_BASIC',
  'EXECUTION_HISTORY_DETAILED',
] as const
export type HistoryLevel = (typeof HISTORY_LEVELS)[number]

export interface SimulatedWorkflow {
  readonly steps: readonly SimulatedStep[]
  readonly description?: string
  readonly labels?: Readonly<Record<string, string>>
  /** Default `000001-000`. */
  readonly revisionId?: string
  /** Of executions that ask for none. Default: no history. */
  readonly historyLevel?: HistoryLevel
  /** How long an execution goes on after it was asked to stop, in ms. Default 0. */
  readonly stopsAfterMs?: number
}

/** The value with every reference resolved. */
export function resolve(value: Value, variables: Variables): unknown {
  if (typeof value === 'string') {
    const path = /^\$([\w.-]+)$/.exec(value)?.[1]
    return path === undefined ? value : at(variables, path)
  }
  if (Array.isArray(value)) return value.map((item) => resolve(item, variables))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolve(member, variables)]))
}

function at(variables: Variables, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    const known = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    return known ? (value as Record<string, unknown>)[key] : undefined
  }, variables)
}
