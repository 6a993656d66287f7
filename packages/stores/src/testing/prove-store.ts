import type { KeepsSessions, TaskStore } from '@runbridge/core'
import { sessionSuite, storeSuite } from '@runbridge/core/testing'
import fc from 'fast-check'
import * as vitest from 'vitest'

type Store = TaskStore & KeepsSessions

/** One place where records are kept, with any number of stores opened on it. */
interface Place {
  open(): Promise<Store>
  /** Removes the place. Its stores are closed before. */
  remove(): Promise<unknown>
}

/**
 * The published kits, for a durable store that several processes may share.
 * @param bounds of the property tests: operations in a row, and runs
 */
export function proveStore(
  name: string,
  newPlace: () => Promise<Place>,
  bounds: { readonly operations: number; readonly runs: number },
): void {
  async function opening() {
    const place = await newPlace()
    const opened: Store[] = []
    const open = async () => {
      const store = await place.open()
      opened.push(store)
      return store
    }
    const dispose = async () => {
      for (const each of opened) await each.close()
      await place.remove()
    }
    return { store: await open(), open, dispose }
  }

  storeSuite(vitest, {
    name,
    capabilities: { durable: true, multiProcess: true },
    open: async () => {
      const { store, open, dispose } = await opening()
      const reopen = async () => {
        await store.close()
        return open()
      }
      return { store, join: open, reopen, dispose }
    },
    forAll: (check) =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.nat(0xffffffff), { maxLength: bounds.operations, size: 'max' }), check),
        { numRuns: bounds.runs },
      ),
  })

  sessionSuite(vitest, {
    name,
    open: async () => {
      const { store, open, dispose } = await opening()
      const close = () => store.close()
      const join = async () => (await open()).sessions
      const reopen = async () => {
        await close()
        return join()
      }
      return { sessions: store.sessions, close, join, reopen, dispose }
    },
  })
}
