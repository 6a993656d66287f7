import { setMaxListeners } from 'node:events'
import type { Json } from './asl.js'
import type { Level } from './level.js'
import type { LevelRun, Thread } from './run-level.js'
import { stopped } from './task-failure.js'

/** A branch or an iteration. */
export interface Sibling {
  level: Level
  /** An iteration's name and index for its events; branches have none. */
  label?: { name: string; index: number }
  start: (run: LevelRun) => Promise<Json>
}

export interface SiblingsOptions {
  kind: 'Parallel' | 'Map'
  run: LevelRun
  concurrency: number
}

/** Why siblings and all below them end; a whole execution that ends leaves no such events. */
const siblingFailed = Symbol('a sibling failed')

/** Runs siblings until all have succeeded, or one has failed: then the others are aborted and its failure is thrown. */
export async function runSiblings(
  siblings: Sibling[],
  { kind, run, concurrency }: SiblingsOptions,
): Promise<Json> {
  const { history } = run.execution
  const started = run.thread.last
  const family = new AbortController()
  const signal = AbortSignal.any([family.signal, run.signal])
  setMaxListeners(0, signal)
  const outputs: Json[] = new Array(siblings.length).fill(null)
  const running = new Map<Sibling, Thread>()
  let next = 0
  let failing: Sibling | undefined
  signal.addEventListener('abort', recordAborted, { once: true })

  async function worker(): Promise<void> {
    while (next < siblings.length && !signal.aborted) {
      const position = next++
      const sibling = siblings[position] as Sibling
      const thread: Thread = { last: started, state: undefined }
      if (sibling.label) thread.last = history.add('MapIterationStarted', thread.last, sibling.label)
      running.set(sibling, thread)
      try {
        outputs[position] = await sibling.start({
          execution: run.execution,
          context: run.context,
          thread,
          signal,
        })
      } catch (error) {
        if (!signal.aborted) fail(sibling, thread)
        throw error
      }
      running.delete(sibling)
      if (sibling.label) thread.last = history.add('MapIterationSucceeded', thread.last, sibling.label)
      run.thread.last = thread.last
    }
    if (signal.aborted) throw stopped()
  }

  /** As recorded from AWS: what still runs is aborted, then the state fails, led to by the failing event. */
  function fail(sibling: Sibling, thread: Thread): void {
    failing = sibling
    family.abort(siblingFailed)
    if (sibling.label) thread.last = history.add('MapIterationFailed', thread.last, sibling.label)
    run.thread.last = history.add(`${kind}StateFailed`, thread.last)
  }

  function recordAborted(): void {
    if (signal.reason !== siblingFailed) return
    for (const [sibling, { last, state }] of running) {
      const type = state && sibling.level.states.get(state.name)?.asl.Type
      if (type === 'Task' || type === 'Wait' || type === 'Map' || type === 'Parallel') {
        history.add(`${type}StateAborted`, last)
      }
      if (sibling.label && sibling !== failing) history.add('MapIterationAborted', last, sibling.label)
    }
  }

  const workers = Array.from({ length: Math.min(concurrency, siblings.length) }, worker)
  try {
    await Promise.all(workers)
  } catch (error) {
    await Promise.allSettled(workers)
    throw error
  }
  run.thread.last = history.add(`${kind}StateSucceeded`, run.thread.last)
  return outputs
}
