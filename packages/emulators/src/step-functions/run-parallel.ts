import type { Json } from './asl.js'
import type { Envelope, LevelState } from './level.js'
import { type LevelRun, runLevel } from './run-level.js'
import { runSiblings } from './run-siblings.js'

/** Runs the branches side by side; the output is the list of theirs. */
export async function runParallel(state: LevelState, given: Envelope | Json, run: LevelRun): Promise<Json> {
  const { history } = run.execution
  const input = state.enveloped ? ((given as Envelope).input ?? null) : (given as Json)
  run.thread.last = history.add('ParallelStateStarted', run.thread.last)
  const branches = state.below.map((branch) => ({
    level: branch,
    start: (sibling: LevelRun) => runLevel(branch, structuredClone(input), sibling),
  }))
  return runSiblings(branches, { kind: 'Parallel', run, concurrency: branches.length })
}
