import type { GetResult } from '../backend.js'
import { toRunbridgeError } from '../errors.js'
import type { RunRef } from '../run.js'
import type { TaskRecord } from '../task.js'
import type { TaskTool } from '../tool.js'
import type { ServiceContext } from './context.js'

/** When a run is looked at, which the tasks that follow it share. Times in ms since the epoch. */
export interface Look {
  readonly observedAt: number
  /** Nobody looks again before then. */
  readonly until: number
  /** What it showed, undefined where it came to nothing; absent where the engine's quota had no room for it. */
  readonly result?: Promise<GetResult | undefined>
}

export interface Looks {
  /** The look of another task that this one may share: under way, or newer than what made this one due. */
  shared(tool: TaskTool, run: RunRef, record: TaskRecord): Look | undefined
  /** Lets others share it from now on. */
  share(tool: TaskTool, run: RunRef, record: TaskRecord, look: Look): void
  /** Never rejects: what is thrown says nothing about the run. */
  send(tool: TaskTool, run: RunRef, record: TaskRecord): Promise<GetResult>
}

/** @param kept whether several tasks can follow one run: where a tool watches runs, or equal calls share one */
export function createLooks(context: ServiceContext, kept: boolean): Looks {
  const { clock } = context
  const looks = new Map<string, Look>()
  const kinds = new WeakMap<TaskTool, string>()
  let prunedTo = 0

  /** Tools that ask the same of the same workflow see the same of a run, unless each owner sees it for itself. */
  function keyOf(tool: TaskTool, run: RunRef, { owner }: TaskRecord): string {
    const { backend, workflow, humanInput, progress } = tool
    const kind = kinds.get(tool) ?? JSON.stringify([backend.name, workflow, humanInput !== 'off', progress])
    kinds.set(tool, kind)
    return `${run.attempt} ${run.id} ${kind}${backend.actsAsOwner ? ` ${owner}` : ''}`
  }

  function prune(now: number): void {
    if (looks.size < 2 * prunedTo + 100) return
    for (const [key, { until }] of looks) if (until <= now) looks.delete(key)
    prunedTo = looks.size
  }

  return {
    shared(tool, run, record) {
      const { observedAt, refreshAfter } = record
      const look = kept ? looks.get(keyOf(tool, run, record)) : undefined
      if (!look || look.until <= clock.now()) return undefined
      return observedAt === undefined || look.observedAt >= refreshAfter ? look : undefined
    },
    share(tool, run, record, look) {
      if (!kept) return
      prune(look.observedAt)
      const key = keyOf(tool, run, record)
      looks.set(key, look)
      look.result?.then((result) => {
        if (result === undefined && looks.get(key) === look) looks.delete(key)
      })
    },

    async send(tool, run, { owner, marks }) {
      try {
        return await tool.backend.get(tool.workflow, run, {
          signal: context.within(context.requestTimeoutMs),
          owner,
          gates: tool.humanInput !== 'off',
          progress: tool.progress,
          ...(marks && { marks }),
        })
      } catch (thrown) {
        return { kind: 'unreadable', error: toRunbridgeError(thrown) }
      }
    },
  }
}
