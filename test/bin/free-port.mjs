import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port of loopback that is free now, for programs that have to be told one. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
