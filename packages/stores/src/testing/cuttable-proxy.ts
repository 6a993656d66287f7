import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server that can be cut: by every connection at once, and for new ones. */
export interface CuttableProxy {
  readonly port: number
  /** Breaks every connection that there is. */
  cut(): void
  /** Whether new connections are taken. */
  open: boolean
  /** Breaks the connections one after the other, each as soon as its answer to what is sent from now on comes. */
  loseAnswers(times: number): void
  close(): Promise<void>
}

export async function cuttableProxy(host: string, port: number): Promise<CuttableProxy> {
  const sockets = new Set<Socket>()
  let answersToLose = 0
  const server = createServer((near) => {
    if (!proxy.open) {
      near.destroy()
      return
    }
    const far = connect(port, host)
    let asked = false
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (data) => {
      asked = answersToLose > 0
      far.write(data)
    })
    far.on('data', (data) => {
      if (asked && answersToLose > 0) {
        answersToLose -= 1
        near.destroy()
        return
      }
      near.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const proxy: CuttableProxy = {
    port: (server.address() as AddressInfo).port,
    cut,
    open: true,
    loseAnswers(times) {
      answersToLose = times
    },
    async close() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}
