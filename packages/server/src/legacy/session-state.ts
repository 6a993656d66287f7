import type { SessionRecord, SessionStore } from '@runbridge/core'

/** The record of one session, shared by all that serve it. */
export interface SessionState {
  /** As it is now; undefined once the session has ended. */
  read(): Promise<SessionRecord | undefined>
  /**
   * Applies the change to the record as it is then, again on every conflict; the same object changes nothing.
   * Undefined once the session has ended.
   */
  change(next: (record: SessionRecord) => SessionRecord): Promise<SessionRecord | undefined>
  /** Resolves at the next change made here, after `ms` at most, or when the signal aborts. */
  changed(ms: number, signal: AbortSignal): Promise<void>
}

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

/** Of a session in the store: any process may change it. */
export function storedState(store: SessionStore, id: string, sleep: Sleep): SessionState {
  return state(
    () => store.get(id),
    (record) => store.update(record),
    sleep,
  )
}

/** Of a session that lives as long as its connection, and in this process alone. */
export function heldState(initial: SessionRecord, sleep: Sleep): SessionState {
  let held = initial
  const update = async (record: SessionRecord) => {
    if (record.version !== held.version) return 'conflict' as const
    held = { ...record, version: record.version + 1 }
    return 'updated' as const
  }
  return state(async () => held, update, sleep)
}

function state(read: SessionState['read'], update: SessionStore['update'], sleep: Sleep): SessionState {
  let woken = new AbortController()
  return {
    read,
    async change(next) {
      for (;;) {
        const present = await read()
        if (!present) return undefined
        const changed = next(present)
        if (changed === present) return present
        if ((await update(changed)) !== 'updated') continue
        woken.abort()
        woken = new AbortController()
        return { ...changed, version: changed.version + 1 }
      }
    },
    changed: (ms, signal) => sleep(ms, AbortSignal.any([signal, woken.signal])),
  }
}
