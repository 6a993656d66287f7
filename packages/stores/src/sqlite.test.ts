import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sessionSuite, storeSuite } from '@runbridge/core/testing'
import fc from 'fast-check'
import * as vitest from 'vitest'
import { sqlite } from './sqlite.js'

/** A file that several stores are opened on. */
async function file() {
  const folder = await mkdtemp(join(tmpdir(), 'runbridge-sqlite-'))
  const opened: ReturnType<typeof sqlite>[] = []
  const open = () => {
    const store = sqlite({ path: join(folder, 'tasks.db') })
    opened.push(store)
    return store
  }
  const dispose = async () => {
    for (const each of opened) await each.close()
    await rm(folder, { recursive: true })
  }
  return { open, dispose }
}

storeSuite(vitest, {
  name: 'sqlite',
  capabilities: { durable: true, multiProcess: true },
  open: async () => {
    const { open, dispose } = await file()
    const store = open()
    const reopen = async () => {
      await store.close()
      return open()
    }
    return { store, join: async () => open(), reopen, dispose }
  },
  forAll: (check) =>
    fc.assert(fc.asyncProperty(fc.array(fc.nat(0xffffffff), { maxLength: 60, size: 'max' }), check), {
      numRuns: 60,
    }),
})

sessionSuite(vitest, {
  name: 'sqlite',
  open: async () => {
    const { open, dispose } = await file()
    const store = open()
    const close = () => store.close()
    const reopen = async () => {
      await close()
      return open().sessions
    }
    return { sessions: store.sessions, close, join: async () => open().sessions, reopen, dispose }
  },
})
