import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TaskStore } from '@runbridge/core'
import { storeSuite } from '@runbridge/core/testing'
import fc from 'fast-check'
import * as vitest from 'vitest'
import { sqlite } from './sqlite.js'

storeSuite(vitest, {
  name: 'sqlite',
  capabilities: { durable: true, multiProcess: true },
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runbridge-sqlite-'))
    const opened: TaskStore[] = []
    const join_ = async () => {
      const store = sqlite({ path: join(folder, 'tasks.db') })
      opened.push(store)
      return store
    }
    const store = await join_()
    return {
      store,
      join: join_,
      reopen: async () => {
        await store.close()
        return join_()
      },
      dispose: async () => {
        for (const each of opened) await each.close()
        await rm(folder, { recursive: true })
      },
    }
  },
  forAll: (check) =>
    fc.assert(fc.asyncProperty(fc.array(fc.nat(0xffffffff), { maxLength: 60, size: 'max' }), check), {
      numRuns: 60,
    }),
})
