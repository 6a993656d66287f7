import type { TaskStore } from '@runbridge/core'
import { storeSuite } from '@runbridge/core/testing'
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

storeSuite(vitest, {
  name: 'postgres',
  capabilities: { durable: true, multiProcess: true },
  open: async () => {
    const schema = newSchema()
    const opened: TaskStore[] = []
    const join = async () => {
      const store = await postgres({ pool, schema })
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
        await pool.query(`drop schema "${schema}" cascade`)
      },
    }
  },
  forAll: (check) =>
    fc.assert(fc.asyncProperty(fc.array(fc.nat(0xffffffff), { maxLength: 60, size: 'max' }), check), {
      numRuns: 30,
    }),
})
