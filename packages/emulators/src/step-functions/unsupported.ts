import { type AslDefinition, type AslState, everyPath, everyState } from './asl.js'
import { serviceResource } from './service-resource.js'

/** The interpreter counts in 32-bit milliseconds: a longer Wait would end at once. */
const longestWaitSeconds = 2_147_483

const jsonataFields = ['Arguments', 'Assign', 'Output', 'Items', 'Condition'] as const
const distributedFields = [
  'ItemReader',
  'ItemBatcher',
  'ResultWriter',
  'ToleratedFailurePercentage',
  'ToleratedFailureCount',
  'ToleratedFailurePercentagePath',
  'ToleratedFailureCountPath',
] as const

const intrinsics = new Set([
  'Format',
  'StringToJson',
  'JsonToString',
  'Array',
  'ArrayPartition',
  'ArrayContains',
  'ArrayRange',
  'ArrayGetItem',
  'ArrayLength',
  'ArrayUnique',
  'Base64Encode',
  'Base64Decode',
  'Hash',
  'JsonMerge',
  'MathRandom',
  'MathAdd',
  'StringSplit',
  'UUID',
])

export interface RefusalOptions {
  express: boolean
  /** Whether a local function stands in for this Task. */
  hasTask: (stateName: string, state: AslState) => boolean
}

/**
 * What this emulator would run wrongly, each by name and with what to use instead; empty where it can run all.
 * The interpreter ignores most of these silently, so they are refused before anything runs.
 */
export function refusals(definition: AslDefinition, options: RefusalOptions): string[] {
  const found: string[] = []
  if (definition.QueryLanguage === 'JSONata') {
    found.push('QueryLanguage JSONata is not supported; use JSONPath, or an emulator that runs JSONata')
  }
  for (const [name, state] of everyState(definition)) {
    for (const complaint of [
      ...language(state),
      ...paths(state),
      ...shapes(state),
      ...resources(name, state, options),
    ]) {
      found.push(`state '${name}': ${complaint}`)
    }
  }
  return found
}

function* language(state: AslState): Generator<string> {
  if (state.QueryLanguage === 'JSONata') yield 'QueryLanguage JSONata is not supported; use JSONPath'
  for (const field of jsonataFields) {
    if (!(field in state)) continue
    yield field === 'Assign'
      ? 'Assign (variables) is not supported; carry the value in the state output with ResultPath'
      : `${field} belongs to JSONata, which is not supported; use Parameters, ResultSelector and OutputPath`
  }
  for (const catcher of state.Catch ?? []) {
    if ('Assign' in catcher || 'Output' in catcher)
      yield 'Assign and Output in a Catch are not supported; use ResultPath'
  }
}

function* shapes(state: AslState): Generator<string> {
  const mode = (state.ItemProcessor ?? state.Iterator)?.ProcessorConfig?.Mode
  if (mode === 'DISTRIBUTED') yield 'a DISTRIBUTED Map is not supported; use ProcessorConfig.Mode INLINE'
  for (const field of distributedFields) {
    if (field in state)
      yield `${field} belongs to the distributed Map, which is not supported; use an INLINE Map over the input`
  }
  if (state.Type === 'Wait' && Number(state.Seconds) > longestWaitSeconds) {
    yield `Seconds ${state.Seconds} is longer than the ${longestWaitSeconds} s that can be waited for; use a shorter Wait`
  }
}

function* paths(state: AslState): Generator<string> {
  const callback = state.Type === 'Task' && serviceResource(state.Resource ?? '').callback
  for (const [field, path] of everyPath(state)) {
    if (/\$\$\.State\.(?!Name\b)/.test(path))
      yield `${path} is not in the context object here; only $$.State.Name is`
    if (path.includes('$$.Task.Token') && !callback) {
      yield `$$.Task.Token in ${field} needs a Resource that ends in .waitForTaskToken`
    }
    if (/^\$[A-Za-z_]/.test(path))
      yield `the variable ${path} is not supported; use a path that starts with $.`
    if (field.endsWith('.$') && !path.startsWith('$')) {
      for (const called of functionNames(path)) {
        if (!intrinsics.has(called)) yield `the intrinsic function States.${called} is not known`
      }
    }
    if ((field === 'ErrorPath' || field === 'CausePath') && !path.startsWith('$')) {
      yield `an intrinsic function in ${field} is not supported; compute it in a Pass state before`
    }
  }
}

function functionNames(expression: string): string[] {
  const withoutStrings = expression.replace(/'(?:[^'\\]|\\.)*'/g, "''")
  return [...withoutStrings.matchAll(/States\.(\w+)/g)].map((match) => match[1] ?? '')
}

function* resources(name: string, state: AslState, options: RefusalOptions): Generator<string> {
  if (state.Type !== 'Task') return
  const { kind, callback, sync, arn } = serviceResource(state.Resource ?? '')
  if (kind === 'activity')
    yield `activities are not supported (${arn}); use a Resource that ends in .waitForTaskToken`
  if (options.express && (callback || sync)) {
    yield `an EXPRESS state machine does not support ${arn}; use type STANDARD`
  }
  if (sync && !options.hasTask(name, state)) {
    yield `${arn} starts a job that does not exist here; register a function for it under tasks`
  }
}
