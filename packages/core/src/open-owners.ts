import type { Backend, Workflow } from './backend.js'
import type { Owner } from './task.js'

/** A backend and its connections. */
export interface OpenBackend<W extends Workflow = Workflow> {
  readonly backend: Backend<W>
  /** Closes its connections. Called once nothing is under way. */
  readonly close?: (() => void | Promise<void>) | undefined
}

interface Entry<W extends Workflow> {
  readonly opened: Promise<OpenBackend<W>>
  leases: number
  /** No longer kept: closed with its last lease. */
  dropped: boolean
}

/** The backends of owners that are open. The bound is on those that are kept: one that is in use ends its calls first. */
export function createOpenOwners<W extends Workflow>(
  open: (owner: Owner) => OpenBackend<W> | Promise<OpenBackend<W>>,
  maxOwners: number,
) {
  /** The one that was used last is last. */
  const kept = new Map<Owner, Entry<W>>()

  /** Never rejects: one that did not open has nothing to close, and nobody can do more about one that does not close. */
  async function close({ opened }: Entry<W>): Promise<void> {
    await opened.then((open) => open.close?.()).catch(() => undefined)
  }

  function drop(owner: Owner): void {
    const entry = kept.get(owner)
    if (!entry) return
    kept.delete(owner)
    entry.dropped = true
    if (entry.leases === 0) void close(entry)
  }

  function entryOf(owner: Owner): Entry<W> {
    const present = kept.get(owner)
    const entry = present ?? { opened: (async () => open(owner))(), leases: 0, dropped: false }
    kept.delete(owner)
    kept.set(owner, entry)
    if (!present && kept.size > maxOwners) drop(kept.keys().next().value as Owner)
    return entry
  }

  return {
    /** The owner's backend, opened at its first use and not closed before `release`. Throws what `open` throws. */
    async lease(owner: Owner): Promise<{ readonly backend: Backend<W>; release(): void }> {
      const entry = entryOf(owner)
      entry.leases += 1
      const release = () => {
        entry.leases -= 1
        if (entry.dropped && entry.leases === 0) void close(entry)
      }
      try {
        return { backend: (await entry.opened).backend, release }
      } catch (thrown) {
        release()
        // The next call tries again.
        if (kept.get(owner) === entry) drop(owner)
        throw thrown
      }
    },
    /** Closes the owner's backend when nothing is under way. */
    drop,
    /** Closes all of them at once. */
    async close(): Promise<void> {
      const entries = [...kept.values()]
      kept.clear()
      await Promise.all(entries.map(close))
    },
  }
}
