import { connect, createServer } from 'node:net'

/**
 * A way to a server that can be cut.
 * @param {string} host
 * @param {number} port
 */
export async function cuttable(host, port) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  let open = true
  const server = createServer((near) => {
    if (!open) {
      near.destroy()
      return
    }
    const far = connect(port, host)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: address.port,
    /** Breaks every connection, and refuses new ones for this long. */
    cut(/** @type {number} */ ms) {
      open = false
      cut()
      setTimeout(() => {
        open = true
      }, ms)
    },
    async close() {
      open = false
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
