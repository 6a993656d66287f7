import type { Json } from './asl.js'
import { interpret } from './interpreter.js'
import type { Envelope, Level, LevelState } from './level.js'
import { type LevelRun, runLevel } from './run-level.js'
import { runSiblings } from './run-siblings.js'
import { failureOf, taskFailure } from './task-failure.js'

/** AWS runs at most about 40 iterations of an INLINE Map at a time. */
const defaultConcurrency = 40

/** Runs the processor for every item; the output is the list of theirs, in the order of the items. */
export async function runMap(state: LevelState, given: Envelope | Json, run: LevelRun): Promise<Json> {
  const { history } = run.execution
  const envelope: Envelope = state.enveloped ? (given as Envelope) : { input: given as Json }
  const input = envelope.input ?? null
  const items = state.asl.ItemsPath === undefined ? input : (envelope.items ?? null)
  if (!Array.isArray(items)) {
    throw taskFailure(
      'States.Runtime',
      'The input of a Map state, or what its ItemsPath points to, must be an array',
      true,
    )
  }
  const concurrency = envelope.maxConcurrency ?? state.asl.MaxConcurrency ?? 0
  run.thread.last = history.add('MapStateStarted', run.thread.last, { length: items.length })
  const processor = state.below[0] as Level
  const iterations = items.map((item, index) => ({
    level: processor,
    label: { name: state.name, index },
    start: async (sibling: LevelRun) => {
      const context = { ...sibling.context, Map: { Item: { Index: index, Value: item } } }
      const itemInput = state.selector === undefined ? item : await selected(state.selector, input, context)
      return runLevel(processor, structuredClone(itemInput), { ...sibling, context })
    },
  }))
  return runSiblings(iterations, { kind: 'Map', run, concurrency: concurrency || defaultConcurrency })
}

/** An item's input by the ItemSelector: one Pass state, so that paths and intrinsic functions mean what they always mean. */
async function selected(selector: Json, input: Json, context: Record<string, unknown>): Promise<Json> {
  const select = { Type: 'Pass' as const, Parameters: selector, End: true }
  try {
    return await interpret({ StartAt: 'select', States: { select } }, input, context, {}).result
  } catch (error) {
    const { error: name, cause } = failureOf((error as Error).cause)
    throw taskFailure(name, cause, true)
  }
}
