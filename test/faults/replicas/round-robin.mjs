import { Agent, createServer, request } from 'node:http'

/**
 * A plain proxy: each request goes to the next replica, whoever sent it, and to the one after it where no
 * connection can be made. What breaks later breaks for the client.
 * @param {() => readonly (number | undefined)[]} ports of the replicas, undefined for one that is down
 */
export async function roundRobin(ports) {
  const agent = new Agent({ keepAlive: false })
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    /** @type {Buffer[]} */
    const chunks = []
    incoming.on('data', (chunk) => chunks.push(chunk))
    incoming.on('error', () => {})
    incoming.on('end', () => pass(Buffer.concat(chunks), 0))

    /** @returns {void} */
    function pass(/** @type {Buffer} */ body, /** @type {number} */ tries) {
      const all = ports()
      turn += 1
      const port = all[turn % all.length]
      if (tries > 2 * all.length) return void outgoing.writeHead(502).end()
      if (port === undefined) return pass(body, tries + 1)
      const { method, url, headers } = incoming
      const passed = request({ host: '127.0.0.1', port, method, path: url, headers, agent }, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        outgoing.flushHeaders()
        response.pipe(outgoing)
        response.on('error', () => outgoing.destroy())
        response.on('aborted', () => outgoing.destroy())
      })
      passed.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
        if (error.code === 'ECONNREFUSED') return pass(body, tries + 1)
        outgoing.destroy()
      })
      outgoing.on('close', () => passed.destroy())
      passed.end(body)
    }
  })
  server.requestTimeout = 0
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
