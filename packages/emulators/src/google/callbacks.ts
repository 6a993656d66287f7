import { randomUUID } from 'node:crypto'

/** A request that arrived at a callback, as the workflow gets it. */
interface CallbackRequest {
  readonly method: string
  readonly body: unknown
  readonly query: Readonly<Record<string, string>>
}

export interface Callback {
  readonly id: string
  readonly method: string
  /** Requests that no step took yet. */
  readonly available: CallbackRequest[]
  waiters: number
  send(request: CallbackRequest): void
  /** The next request; rejects when the signal aborts, with its reason. */
  receive(signal: AbortSignal): Promise<CallbackRequest>
}

/** A callback endpoint. What is sent while nobody waits is kept for the next step that does, as Google keeps it. */
export function createCallback(method: string): Callback {
  const waiting: ((request: CallbackRequest) => void)[] = []
  const available: CallbackRequest[] = []
  const callback: Callback = {
    id: `${randomUUID()}_${randomUUID()}`,
    method,
    available,
    waiters: 0,
    send(request) {
      const next = waiting.shift()
      if (next) next(request)
      else available.push(request)
    },
    async receive(signal) {
      const present = available.shift()
      if (present) return present
      callback.waiters += 1
      try {
        return await new Promise<CallbackRequest>((resolve, reject) => {
          if (signal.aborted) reject(signal.reason)
          waiting.push(resolve)
          signal.addEventListener('abort', () => {
            waiting.splice(waiting.indexOf(resolve) >>> 0, 1)
            reject(signal.reason)
          })
        })
      } finally {
        callback.waiters -= 1
      }
    },
  }
  return callback
}
