/** The parts of the Amazon States Language that this package reads. Source: https://states-language.net/spec.html */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

type StateType = 'Task' | 'Parallel' | 'Map' | 'Pass' | 'Wait' | 'Choice' | 'Succeed' | 'Fail'

export interface AslState {
  Type: StateType
  Resource?: string
  Parameters?: Json
  ItemSelector?: Json
  ItemProcessor?: AslProcessor
  Iterator?: AslProcessor
  Branches?: AslDefinition[]
  TimeoutSeconds?: number
  TimeoutSecondsPath?: string
  HeartbeatSeconds?: number
  HeartbeatSecondsPath?: string
  MaxConcurrency?: number
  MaxConcurrencyPath?: string
  ItemsPath?: string
  ResultPath?: string | null
  Choices?: Record<string, unknown>[]
  Catch?: { ErrorEquals: string[]; ResultPath?: string | null; Next: string }[]
  Retry?: { ErrorEquals: string[] }[]
  [field: string]: unknown
}

export interface AslDefinition {
  StartAt: string
  States: Record<string, AslState>
  TimeoutSeconds?: number
  [field: string]: unknown
}

interface AslProcessor extends AslDefinition {
  ProcessorConfig?: { Mode?: string; ExecutionType?: string }
}

/** The levels of states directly below a state: the branches of a Parallel, the processor of a Map. */
export function levelsBelow(state: AslState): AslDefinition[] {
  if (state.Type === 'Parallel') return state.Branches ?? []
  const processor = state.ItemProcessor ?? state.Iterator
  return state.Type === 'Map' && processor ? [processor] : []
}

/** Every state of a definition, at every depth, with its name. */
export function* everyState(definition: AslDefinition): Generator<[name: string, state: AslState]> {
  for (const [name, state] of Object.entries(definition.States ?? {})) {
    yield [name, state]
    for (const level of levelsBelow(state)) yield* everyState(level)
  }
}

/** True for a field whose string is a path or an intrinsic function rather than a literal. */
export function isPathField(key: string): boolean {
  return key.endsWith('.$') || key.endsWith('Path') || key === 'Variable'
}

/** Every path and intrinsic function in a state, nested levels excluded, with the field it stands in. */
export function* everyPath(value: unknown, key = ''): Generator<[field: string, path: string]> {
  if (typeof value === 'string' && isPathField(key)) yield [key, value]
  if (typeof value !== 'object' || value === null) return
  for (const [field, inner] of Object.entries(value)) {
    if (field === 'States' || field === 'Branches') continue
    yield* everyPath(inner, Array.isArray(value) ? key : field)
  }
}
