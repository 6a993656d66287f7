import { PassThrough, type Readable, type Writable } from 'node:stream'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { RunbridgeServer } from './create-server.js'

export interface StdioOptions {
  readonly server: RunbridgeServer
  /** Default: the standard input of this process. */
  readonly input?: Readable
  /** Carries nothing but protocol; logs belong elsewhere. Default: the standard output of this process. */
  readonly output?: Writable
}

export interface StdioServer {
  /** Resolves when the client is gone: it closed its end, or nothing can be written any more. Then `close`. */
  readonly ended: Promise<void>
  /**
   * Reads no further, lets what is under way end (see `RunbridgeServer.close`), and writes the last answers.
   * Idempotent.
   */
  close(): Promise<void>
}

/** How long answers that are on their way may take to leave at the end, in ms. */
const FLUSH_MS = 1_000

/**
 * Serves MCP to the host that started this process, one message a line (2026-07-28 basic/transports/stdio). A
 * message larger than `limits.maxBodyBytes` ends the connection.
 */
export function serveStdio(options: StdioOptions): StdioServer {
  const { server, input = process.stdin, output = process.stdout } = options
  // The SDK's transport closes with its input, unanswered requests and all. This one outlives the client's end
  // of the pipe, so that the end of the input is drained like every other end.
  const messages = new PassThrough()
  const channel = server.connect(
    new StdioServerTransport(messages, output, { maxBufferSize: server.limits.maxBodyBytes }),
  )
  const inputEnded = new Promise<void>((resolve) => {
    input.once('end', resolve).once('close', resolve).once('error', resolve)
  })
  input.pipe(messages, { end: false })
  let closed: Promise<void> | undefined

  async function close(): Promise<void> {
    input.unpipe(messages)
    input.pause()
    // What has arrived is still served.
    while (messages.readableLength > 0 && !messages.isPaused()) await turn()
    await server.close()
    const flushed = new Promise<void>((resolve) => output.write('', () => resolve()))
    await Promise.race([flushed, delay(FLUSH_MS, undefined, { ref: false })])
  }

  return {
    ended: Promise.race([inputEnded, channel.ended]),
    close() {
      closed ??= close()
      return closed
    },
  }
}
