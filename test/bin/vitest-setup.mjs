// What one run of vitest shares: a PostgreSQL, started when the first test asks for it.
import { createServer } from 'node:http'
import { startPostgres } from './postgres.mjs'

/** @param {{ provide(key: 'postgresAt', value: string): void }} project */
export default async function setup(project) {
  /** @type {Promise<import('./postgres.mjs').TestPostgres> | undefined} */
  let postgres
  const server = createServer((_, response) => {
    postgres ??= startPostgres()
    postgres.then(
      ({ url }) => response.end(url),
      (error) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    )
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  project.provide('postgresAt', `http://127.0.0.1:${address.port}/`)
  return async () => {
    server.closeAllConnections()
    server.close()
    await (await postgres?.catch(() => undefined))?.close()
  }
}
