import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { postgres } from './postgres.js'
import { newSchema, postgresUrl } from './testing/postgres.js'
import { proveStore } from './testing/prove-store.js'

let pool: pg.Pool
beforeAll(async () => {
  pool = new pg.Pool({ connectionString: await postgresUrl(), max: 20 })
}, 60_000)
afterAll(() => pool.end())

async function newPlace() {
  const schema = newSchema()
  return {
    open: () => postgres({ pool, schema }),
    remove: () => pool.query(`drop schema "${schema}" cascade`),
  }
}

proveStore('postgres', newPlace, { operations: 60, runs: 30 })
