import type { HistoryLevel, Variables } from './simulated.js'

type EntryState = 'STATE_IN_PROGRESS' | 'STATE_SUCCEEDED' | 'STATE_FAILED' | 'STATE_CANCELLED'

/** One visit of a step, as `stepEntries.list` shows it. */
export interface StepEntry {
  readonly entryId: number
  readonly routine: string
  readonly step: string
  readonly stepType: string
  readonly createTime: number
  updateTime: number
  state: EntryState
  variables?: Variables
  payload?: string
  readonly progress?: { readonly type: string; readonly number: number; readonly expected: number }
}

export interface History {
  /** Undefined where the level keeps none. */
  enter(entry: Pick<StepEntry, 'routine' | 'step' | 'stepType' | 'progress'>): StepEntry | undefined
  leave(entry: StepEntry | undefined, state: EntryState, variables: Variables, payload?: string): void
  /** What is still in progress ends so. */
  close(state: EntryState): void
  readonly entries: readonly StepEntry[]
}

export function createHistory(level: HistoryLevel, now: () => number): History {
  const entries: StepEntry[] = []
  return {
    entries,
    enter(entry) {
      if (level === 'EXECUTION_HISTORY_LEVEL_UNSPECIFIED') return undefined
      const at = now()
      const entered: StepEntry = {
        ...entry,
        entryId: entries.length + 1,
        createTime: at,
        updateTime: at,
        state: 'STATE_IN_PROGRESS',
      }
      entries.push(entered)
      return entered
    },
    leave(entry, state, variables, payload) {
      if (!entry) return
      entry.state = state
      entry.updateTime = now()
      if (level === 'EXECUTION_HISTORY_DETAILED') entry.variables = structuredClone(variables)
      if (payload !== undefined) entry.payload = payload
    },
    close(state) {
      for (const entry of entries) {
        if (entry.state === 'STATE_IN_PROGRESS') entry.state = state
      }
    },
  }
}
