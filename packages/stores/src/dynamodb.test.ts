import { sessionSuite, storeSuite } from '@runbridge/core/testing'
import fc from 'fast-check'
import * as vitest from 'vitest'
import { dynamodb } from './dynamodb.js'
import { startTestDynamodb, type TestDynamodb } from './testing/dynamodb.js'

let server: TestDynamodb
vitest.beforeAll(async () => {
  server = await startTestDynamodb()
})
vitest.afterAll(() => server.close())

/** A table that several stores are opened on. */
async function newStores() {
  const table = await server.newTable()
  const opened: Awaited<ReturnType<typeof dynamodb>>[] = []
  const open = async () => {
    const store = await dynamodb({ table, client: server.client })
    opened.push(store)
    return store
  }
  const dispose = async () => {
    for (const each of opened) await each.close()
    await server.dropTable(table)
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
