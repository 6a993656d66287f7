import type { TaskStore } from '@runbridge/core'
import { storeSuite } from '@runbridge/core/testing'
import fc from 'fast-check'
import * as vitest from 'vitest'
import { dynamodb } from './dynamodb.js'
import { type Dynalite, startDynalite } from './testing/dynalite.js'

let dynalite: Dynalite
vitest.beforeAll(async () => {
  dynalite = await startDynalite()
})
vitest.afterAll(() => dynalite.close())

storeSuite(vitest, {
  name: 'dynamodb',
  capabilities: { durable: true, multiProcess: true },
  open: async () => {
    const table = await dynalite.newTable()
    const opened: TaskStore[] = []
    const join = async () => {
      const store = await dynamodb({ table, client: dynalite.client })
      opened.push(store)
      return store
    }
    const store = await join()
    return {
      store,
      join,
      reopen: async () => {
        await store.close()
        return join()
      },
      dispose: async () => {
        for (const each of opened) await each.close()
        await dynalite.dropTable(table)
      },
    }
  },
  forAll: (check) =>
    fc.assert(fc.asyncProperty(fc.array(fc.nat(0xffffffff), { maxLength: 50, size: 'max' }), check), {
      numRuns: 20,
    }),
})
