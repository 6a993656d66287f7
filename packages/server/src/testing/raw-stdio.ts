import { PassThrough } from 'node:stream'
import type { RunbridgeServer } from '../create-server.js'
import { type StdioServer, serveStdio } from '../stdio.js'
import { type Inbox, inbox } from './inbox.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
type Any = any

/** A host at the other end of a server's pipes, which sees every line as it is. */
export interface RawStdio {
  readonly stdio: StdioServer
  readonly input: PassThrough
  readonly output: PassThrough
  write(message: object): void
  /** Sends a request and gives its answer. */
  request(message: { readonly id: string | number }): Promise<Any>
  /** What arrives for a subscription: its notifications, and its end, which is the last. */
  subscription(id: string | number): Inbox<Any>
  /** Every message so far. */
  readonly seen: readonly Any[]
}

export function rawStdio(server: RunbridgeServer, outputBytes?: number): RawStdio {
  const input = new PassThrough()
  const output = new PassThrough(outputBytes === undefined ? {} : { highWaterMark: outputBytes })
  const stdio = serveStdio({ server, input, output })
  const answers = new Map<unknown, (answer: Any) => void>()
  const subscriptions = new Map<unknown, Inbox<Any>>()
  const seen: Any[] = []
  let rest = ''
  if (outputBytes === undefined) output.on('data', read)

  function read(chunk: Buffer): void {
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const message of lines.map((line) => JSON.parse(line))) {
      seen.push(message)
      const id = message.id ?? message.params?._meta?.['io.modelcontextprotocol/subscriptionId']
      answers.get(message.id)?.(message)
      subscriptions.get(id)?.put(message)
      if (message.id !== undefined) subscriptions.get(id)?.end()
    }
  }

  const write = (message: object) => void input.write(`${JSON.stringify(message)}\n`)
  return {
    stdio,
    input,
    output,
    write,
    request(message) {
      const answer = new Promise<Any>((resolve) => answers.set(message.id, resolve))
      write(message)
      return answer
    },
    subscription(id) {
      const box = inbox<Any>()
      subscriptions.set(id, box)
      return box
    },
    seen,
  }
}
