import { inbox } from './inbox.js'
import { headersOf, message, type Sent, send } from './raw-client.js'
import { rawStdio } from './raw-stdio.js'
import type { World } from './world.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
type Any = any

/** A subscription as its client sees it. */
export interface Listening {
  /** The next message of the subscription; undefined after its end. */
  next(): Promise<Any>
  /** Ends it as this transport does it, and gives what still came. */
  cancel(): Promise<void>
}

/** One client over one transport, message by message. */
export interface Wire {
  /** A request and what answers it: a result or an error. */
  send(method: string, params: object, sent?: Sent): Promise<{ readonly result: Any; readonly error: Any }>
  listen(notifications: object, sent?: Sent & { readonly id?: string | number }): Promise<Listening>
  close(): Promise<void>
}

export const WIRES = {
  http: async (world: World): Promise<Wire> => httpWire(world.http.url),
  stdio: async (world: World): Promise<Wire> => stdioWire(world),
}

let count = 0

function httpWire(url: string): Wire {
  return {
    send: (method, params, sent) => send(url, method, params, sent),
    async listen(notifications, { id = `listen-${++count}`, ...sent } = {}) {
      const leaving = new AbortController()
      const box = inbox<Any>()
      const response = await fetch(url, {
        method: 'POST',
        headers: headersOf('subscriptions/listen'),
        body: JSON.stringify(message(id, 'subscriptions/listen', { notifications }, sent)),
        signal: leaving.signal,
      })
      const read = async () => {
        let rest = ''
        for await (const chunk of response.body ?? []) {
          const events = (rest + Buffer.from(chunk).toString()).split('\n\n')
          rest = events.pop() ?? ''
          for (const event of events) {
            const data = /^data: (.+)$/m.exec(event)?.[1]
            if (data !== undefined) box.put(JSON.parse(data))
          }
        }
        // A refusal is one JSON body.
        if (rest !== '') box.put(JSON.parse(rest))
      }
      void read()
        .catch(() => undefined)
        .then(() => box.end())
      return { next: box.next, cancel: async () => leaving.abort() }
    },
    close: async () => {},
  }
}

function stdioWire(world: World): Wire {
  const raw = rawStdio(world.server)
  return {
    send: (method, params, sent) => raw.request(message(++count, method, params, sent)),
    async listen(notifications, { id = `listen-${++count}`, ...sent } = {}) {
      const box = raw.subscription(id)
      raw.write(message(id, 'subscriptions/listen', { notifications }, sent))
      return {
        next: box.next,
        async cancel() {
          const params = { requestId: id }
          raw.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
        },
      }
    },
    close: async () => {
      raw.input.end()
      await raw.stdio.ended
    },
  }
}
