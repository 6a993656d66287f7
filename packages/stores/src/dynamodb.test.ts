import { sessionSuite, storeSuite } from '@runbridge/core/testing'
import fc from 'fast-check'
import * as vitest from 'vitest'
import { dynamodb } from './dynamodb.js'
import { type Dynalite, startDynalite } from './testing/dynalite.js'

let dynalite: Dynalite
vitest.beforeAll(async () => {
  dynalite = await startDynalite()
})
vitest.afterAll(() => dynalite.close())

/** A table that several stores are opened on. */
async function newStores() {
  const table = await dynalite.newTable()
  const opened: Awaited<ReturnType<typeof dynamodb>>[] = []
  const open = async () => {
    const store = await dynamodb({ table, client: dynalite.client })
    opened.push(store)
    return store
  }
  const dispose = async () => {
    for (const each of opened) await each.close()
    await dynalite.dropTable(table)
  }
  return { open, dispose }
}

storeSuite(vitest, {
  name: 'dynamodb',
  capabilities: { durable: true, multiProcess: true },
  open: async () => {
    const { open, dispose } = await newStores()
    const store = await open()
    const reopen = async () => {
      await store.close()
      return open()
    }
    return { store, join: open, reopen, dispose }
  },
  forAll: (check) =>
    fc.assert(fc.asyncProperty(fc.array(fc.nat(0xffffffff), { maxLength: 50, size: 'max' }), check), {
      numRuns: 20,
    }),
})

sessionSuite(vitest, {
  name: 'dynamodb',
  open: async () => {
    const { open, dispose } = await newStores()
    const store = await open()
    const close = () => store.close()
    const another = async () => (await open()).sessions
    const reopen = async () => {
      await close()
      return another()
    }
    return { sessions: store.sessions, close, join: another, reopen, dispose }
  },
})
