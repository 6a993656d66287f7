import { visible } from '../lifecycle.js'
import type { TaskStore } from '../store.js'
import type { TaskKey, TaskRecord } from '../task.js'
import type { Log } from './context.js'
import type { Task } from './task-service.js'

export interface Announcements {
  /** Called after every visible change of the task, whoever made it. Returns the way to stop. */
  subscribe(key: TaskKey, listener: (task: Task) => void): () => void
  /** A change that was made here. */
  changed(record: TaskRecord): void
}

interface Topic {
  readonly key: TaskKey
  readonly listeners: Set<(task: Task) => void>
  /** What the listeners were told last. */
  told?: { readonly version: number; readonly visible: string }
  reading: boolean
  /** Whether the record may have changed since it was read. */
  stale: boolean
}

/**
 * Who wants to know of which task. Changes of other processes come as hints from the store, where it can tell: the
 * record is read again, once at a time for each task, and told of if it is newer and looks different.
 */
export function createAnnouncements(
  store: TaskStore,
  view: (record: TaskRecord) => Task,
  log: Log,
): Announcements {
  const topics = new Map<string, Topic>()
  let watching = false

  const tell = (topic: Topic, record: TaskRecord) => {
    const text = visible(record)
    const news = topic.told?.visible !== text
    topic.told = { version: record.version, visible: text }
    if (!news) return
    for (const listener of [...topic.listeners]) listener(view(record))
  }

  async function readAgain(topic: Topic): Promise<void> {
    topic.stale = true
    if (topic.reading) return
    topic.reading = true
    try {
      while (topic.stale && topic.listeners.size > 0) {
        topic.stale = false
        const record = await store.get(topic.key)
        if (record && record.version > (topic.told?.version ?? 0)) tell(topic, record)
      }
    } catch (err) {
      // Whoever waits looks by itself, if later.
      log.warn({ err, taskId: topic.key.taskId }, 'a task that changed elsewhere could not be read')
    } finally {
      topic.reading = false
    }
  }

  function watch(): void {
    if (watching) return
    watching = true
    store.watch?.((key) => {
      const found = key === undefined ? topics.values() : [topics.get(keyText(key))]
      for (const topic of [...found]) if (topic) void readAgain(topic)
    })
  }

  return {
    subscribe(key, listener) {
      watch()
      const text = keyText(key)
      const topic = topics.get(text) ?? { key, listeners: new Set(), reading: false, stale: false }
      topics.set(text, topic)
      // A function of its own, so that the same one can listen twice.
      const each = (task: Task) => listener(task)
      topic.listeners.add(each)
      return () => {
        topic.listeners.delete(each)
        if (topic.listeners.size === 0 && topics.get(text) === topic) topics.delete(text)
      }
    },
    changed(record) {
      const topic = topics.get(keyText(record))
      if (topic) tell(topic, record)
    },
  }
}

function keyText({ owner, taskId }: TaskKey): string {
  return JSON.stringify([owner, taskId])
}
