import { visible } from '../lifecycle.js'
import { isTerminal } from '../run.js'
import type { TaskKey } from '../task.js'
import type { ServiceContext } from './context.js'
import type { Task, WaitOptions } from './task-service.js'

/** The longest pause between two looks at a record that another process may change. */
const LOOK_MS = 1_000
const MIN_PAUSE_MS = 100

/** Follows a task until something holds, time is up or the caller leaves; changes made here wake it at once. */
export async function waitFor(
  context: ServiceContext,
  get: (key: TaskKey) => Promise<Task>,
  key: TaskKey,
  options: WaitOptions,
): Promise<Task> {
  const { clock, store } = context
  const { signal, until = ended, onChange } = options
  // No other process can change what a store keeps nothing of, and every look reads the engine.
  const lookMs = store.idOf ? Number.POSITIVE_INFINITY : LOOK_MS
  const end = clock.now() + options.waitMs
  let told: string | undefined
  let wake = () => {}
  const unsubscribe = context.subscribe(key, ({ record }) => {
    told = visible(record)
    wake()
  })
  const left = () => wake()
  signal.addEventListener('abort', left)
  try {
    for (let last = ''; ; ) {
      told = undefined
      const task = await get(key)
      const seen = visible(task.record)
      if (seen !== last && last !== '') onChange?.(task)
      last = seen
      const now = clock.now()
      if (until(task) || now >= end || signal.aborted) return task
      // This very look may have made the change that it was told of.
      if (told !== undefined && told !== seen) continue
      const woken = new AbortController()
      wake = () => woken.abort()
      const due = Math.min(Math.max(task.record.refreshAfter - now, MIN_PAUSE_MS), lookMs, end - now)
      // Not `AbortSignal.any`: a wait may last for weeks, and Node 20 keeps a note of each on its sources for ever.
      await clock.sleep(due, woken.signal)
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', left)
  }
}

function ended(task: Task): boolean {
  return isTerminal(task.record.state)
}
