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
  const { clock } = context
  const { signal, until = ended, onChange } = options
  const end = clock.now() + options.waitMs
  let last = ''
  for (;;) {
    const woken = new AbortController()
    const unsubscribe = context.subscribe(key, () => woken.abort())
    try {
      const task = await get(key)
      const seen = visible(task.record)
      if (seen !== last && last !== '') onChange?.(task)
      last = seen
      const now = clock.now()
      if (until(task) || now >= end || signal.aborted) return task
      const due = Math.min(Math.max(task.record.refreshAfter - now, MIN_PAUSE_MS), LOOK_MS, end - now)
      await clock.sleep(due, AbortSignal.any([signal, woken.signal]))
    } finally {
      unsubscribe()
    }
  }
}

function ended(task: Task): boolean {
  return isTerminal(task.record.state)
}
