import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../bin/postgres.mjs'

/**
 * @typedef {object} SharedStore how a process opens the store of a scenario: one of these
 * @property {{ path: string }} [sqlite]
 * @property {{ url: string, schema: string }} [postgres]
 *
 * @typedef {object} Stores
 * @property {() => SharedStore} next a store that nobody else has
 * @property {() => Promise<void>} close
 */

/** @param {SharedStore} shared */
export async function openStore({ sqlite, postgres }) {
  if (postgres)
    return (await import('@runbridge/stores/postgres')).postgres({ ...postgres, maxConnections: 4 })
  if (sqlite) return (await import('@runbridge/stores/sqlite')).sqlite(sqlite)
  throw new Error('no store')
}

/**
 * Every store on which the fault tests can run, by the name that `--store=` gives.
 * @type {Readonly<Record<string, () => Promise<Stores>>>}
 */
export const STORES = {
  async sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'runbridge-faults-'))
    return {
      next: () => ({ sqlite: { path: join(folder, `${randomBytes(8).toString('hex')}.sqlite`) } }),
      close: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },

  async postgres() {
    const { default: pg } = await import('pg')
    const server = await startPostgres()
    /** @type {string[]} */
    const schemas = []
    return {
      next() {
        const schema = `faults_${randomBytes(8).toString('hex')}`
        schemas.push(schema)
        return { postgres: { url: server.url, schema } }
      },
      async close() {
        const client = new pg.Client({ connectionString: server.url })
        await client.connect()
        for (const schema of schemas) await client.query(`drop schema if exists ${schema} cascade`)
        await client.end()
        await server.close()
      },
    }
  },
}
