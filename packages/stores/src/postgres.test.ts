import { sessionSuite, storeSuite } from '@runbridge/core/testing'
import fc from 'fast-check'
import pg from 'pg'
import * as vitest from 'vitest'
import { postgres } from './postgres.js'
import { newSchema, postgresUrl } from './testing/postgres.js'

let pool: pg.Pool
vitest.beforeAll(async () => {
  pool = new pg.Pool({ connectionString: await postgresUrl(), max: 20 })
}, 60_000)
vitest.afterAll(() => pool.end())

/** A schema that several stores are opened on. */
function newStores() {
  const schema = newSchema()
  const opened: Awaited<ReturnType<typeof postgres>>[] = []
  const open = async () => {
    const store = await postgres({ pool, schema })
    opened.push(store)
    return store
  }
  const dispose = async () => {
    for (const each of opened) await each.close()
    await pool.query(`drop schema "${schema}" cascade`)
  }
  return { open, dispose }
}

storeSuite(vitest, {
  name: 'postgres',
  capabilities: { durable: true, multiProcess: true },
  open: async () => {
    const { open, dispose } = newStores()
    const store = await open()
    const reopen = async () => {
      await store.close()
      return open()
    }
    return { store, join: open, reopen, dispose }
  },
  forAll: (check) =>
    fc.assert(fc.asyncProperty(fc.array(fc.nat(0xffffffff), { maxLength: 60, size: 'max' }), check), {
      numRuns: 30,
    }),
})

sessionSuite(vitest, {
  name: 'postgres',
  open: async () => {
    const { open, dispose } = newStores()
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
