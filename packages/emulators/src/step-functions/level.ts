import { type AslDefinition, type AslState, isPathField, type Json, levelsBelow } from './asl.js'

/**
 * One level of states, made ready for the interpreter: the states of a machine, of a branch or of a Map's processor.
 * The interpreter runs levels only; Task, Parallel and Map states are functions of ours (see run-level.ts), because
 * its own nesting hides which branch or iteration an event belongs to and leaves the tasks of failed siblings running.
 */
export interface Level {
  definition: AslDefinition
  states: Map<string, LevelState>
  /** The names by position, for `$$.State.Name`. */
  names: string[]
}

export interface LevelState {
  name: string
  asl: AslState
  /** The function of this state gets an `Envelope` instead of the bare input. */
  enveloped: boolean
  below: Level[]
  /** A Map's ItemSelector (or Parameters), evaluated once for each item. */
  selector: Json | undefined
}

/** What a state's function needs besides its input; the interpreter evaluates the paths in it. */
export interface Envelope {
  input?: Json
  items?: Json
  maxConcurrency?: number
  timeoutSeconds?: number
  heartbeatSeconds?: number
}

/** Where the context object of the whole execution stands: the interpreter overwrites `Execution` on every level. */
export const executionField = 'Run'
export const stateNamesField = 'StateNames'

/** Longer than any run here; without it the interpreter ends every task after 60 s. Timeouts are ours (task.ts). */
const noTimeoutSeconds = 2_147_483

export function level(definition: AslDefinition): Level {
  const names = Object.keys(definition.States)
  const states = new Map<string, LevelState>()
  const prepared: Record<string, AslState> = {}
  names.forEach((name, position) => {
    const original = definition.States[name] as AslState
    const asl = withRewrittenPaths(original, position) as AslState
    const below = levelsBelow(original).map(level)
    const { stand, enveloped, selector } = standIn(mended(asl))
    prepared[name] = stand
    states.set(name, { name, asl, enveloped, below, selector })
  })
  return { definition: { StartAt: definition.StartAt, States: prepared }, states, names }
}

function withRewrittenPaths(value: unknown, position: number, key = ''): unknown {
  if (typeof value === 'string' && isPathField(key)) {
    return value
      .replaceAll('$$.Execution', () => `$$.${executionField}`)
      .replaceAll('$$.State.Name', () => `$$.${stateNamesField}[${position}]`)
  }
  if (Array.isArray(value)) return value.map((inner) => withRewrittenPaths(inner, position, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [
      field,
      field === 'Branches' || field === 'States' ? inner : withRewrittenPaths(inner, position, field),
    ]),
  )
}

/** Says the same in the forms that the interpreter gets right. */
function mended(state: AslState): AslState {
  const { ...mending } = state
  for (const field of ['InputPath', 'OutputPath', 'ResultPath'] as const)
    if (mending[field] === '$') delete mending[field]
  if (typeof mending.ResultPath === 'string') mending.ResultPath = mending.ResultPath.replace(/^\$\[/, '$.[')
  if (mending.Catch) mending.Catch = mending.Catch.map(mendedCatcher)
  if (mending.Retry)
    mending.Retry = mending.Retry.map((retrier) => ({ ...retrier, ErrorEquals: errors(retrier.ErrorEquals) }))
  if (mending.Choices)
    mending.Choices = mending.Choices.map((rule) => mendedRule(rule) as Record<string, unknown>)
  if (state.Type === 'Pass' && 'Result' in state && !state.Result) {
    mending.Parameters = state.Result as Json
    delete mending.Result
  }
  return mending
}

type Catcher = NonNullable<AslState['Catch']>[number]

function mendedCatcher({ ResultPath, ...catcher }: Catcher): Catcher {
  const mending: Catcher = { ...catcher, ErrorEquals: errors(catcher.ErrorEquals) }
  if (ResultPath !== undefined && ResultPath !== '$') {
    mending.ResultPath = ResultPath === null ? null : ResultPath.replace(/^\$\[/, '$.[')
  }
  return mending
}

/** States.Timeout stands for a missed heartbeat too: https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html */
function errors(names: string[]): string[] {
  return names.includes('States.Timeout') ? [...names, 'States.HeartbeatTimeout'] : names
}

const tests = ['IsNull', 'IsPresent', 'IsNumeric', 'IsString', 'IsBoolean', 'IsTimestamp']

/** `IsPresent: false` and its like never match in the interpreter. */
function mendedRule(rule: unknown): unknown {
  if (Array.isArray(rule)) return rule.map(mendedRule)
  if (typeof rule !== 'object' || rule === null) return rule
  const { Next, ...condition } = Object.fromEntries(
    Object.entries(rule).map(([key, inner]) => [key, mendedRule(inner)]),
  ) as Record<string, unknown>
  const negated = tests.find((test) => condition[test] === false)
  const kind = comparedKind(condition)
  const mending = negated
    ? { Not: { ...condition, [negated]: true } }
    : kind
      ? { And: [{ Variable: condition.Variable, [kind]: true }, condition] }
      : condition
  return Next === undefined ? mending : { ...mending, Next }
}

/** The interpreter compares a text with a number as JavaScript does; in the language such a rule does not match. */
function comparedKind(condition: Record<string, unknown>): 'IsNumeric' | 'IsString' | undefined {
  const [, kind] = /^(Numeric|String)(?:Less|Greater|Matches)/m.exec(Object.keys(condition).join('\n')) ?? []
  return kind === undefined ? undefined : kind === 'Numeric' ? 'IsNumeric' : 'IsString'
}

interface StandIn {
  stand: AslState
  enveloped: boolean
  selector: Json | undefined
}

/** A Task in place of a Task, Parallel or Map; other states stay. */
function standIn(state: AslState): StandIn {
  if (state.Type !== 'Task' && state.Type !== 'Parallel' && state.Type !== 'Map') {
    return { stand: state, enveloped: false, selector: undefined }
  }
  const selector = state.Type === 'Map' ? (state.ItemSelector ?? state.Parameters) : undefined
  const envelope: Record<string, Json> = {}
  if (state.Type !== 'Map' && state.Parameters !== undefined) envelope.input = state.Parameters
  for (const [field, path] of [
    ['items', state.ItemsPath],
    ['maxConcurrency', state.MaxConcurrencyPath],
    ['timeoutSeconds', state.TimeoutSecondsPath],
    ['heartbeatSeconds', state.HeartbeatSecondsPath],
  ] as const) {
    if (path !== undefined) envelope[`${field}.$`] = path
  }
  const enveloped = Object.keys(envelope).length > 0
  // `$` fails in the interpreter for null, 0, false and '': it is asked for only where a path needs the envelope.
  if (enveloped && !('input' in envelope)) envelope['input.$'] = '$'
  const stand: AslState = {
    Type: 'Task',
    Resource: state.Resource ?? state.Type,
    TimeoutSeconds: noTimeoutSeconds,
  }
  for (const field of [
    'InputPath',
    'ResultSelector',
    'ResultPath',
    'OutputPath',
    'Retry',
    'Catch',
    'Next',
    'End',
  ] as const) {
    if (field in state) Object.assign(stand, { [field]: state[field] })
  }
  if (enveloped) stand.Parameters = envelope
  return { stand, enveloped, selector }
}
