import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { ManualClock } from '@runbridge/core/testing'
import type { InvocationContext, StreamingHandler } from '../lambda/response-stream.js'

/** One invocation of a streaming handler, as Lambda sees it. */
export interface Invocation {
  /** What the handler wrote, as it comes: at the first look the head has to be there. */
  read(): Promise<{ readonly head: Head; readonly pieces: AsyncGenerator<string> }>
  /** The whole answer. */
  answer(): Promise<{ readonly head: Head; readonly body: string }>
  /** When the sandbox may freeze; rejects with what goes to Lambda in the trailers. */
  readonly ended: Promise<void>
  readonly context: InvocationContext
  /** The connection to the Runtime API breaks. */
  break(): void
}

interface Head {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
}

/** What stands between the head and the body. */
const DELIMITER = Buffer.alloc(8)

/**
 * The global `awslambda` and the loop behind it, as aws-lambda-ric 3.3.0 has them: the head is written by the first
 * write, `end` takes no data, what a handler leaves open is a failure, and nothing tells that the client went away.
 * @param clock.now what the deadline is counted by
 */
export function streamingRuntime(clock: ManualClock) {
  const streaming = new WeakSet<StreamingHandler>()
  const awslambda = {
    streamifyResponse(handler: StreamingHandler) {
      streaming.add(handler)
      return handler
    },
    HttpResponseStream: {
      from(stream: ReturnType<typeof streamOver>, head: object) {
        stream.setContentType('application/vnd.awslambda.http-integration-response')
        stream._onBeforeFirstWrite = (write) => {
          write(JSON.stringify(head))
          write(DELIMITER)
        }
        return stream
      },
    },
  }

  function invoke(
    handler: StreamingHandler,
    event: unknown,
    { timeoutMs = 330_000, highWaterMark = 16_384 } = {},
  ): Invocation {
    if (!streaming.has(handler)) throw new Error('The handler is not streamified.')
    const deadline = clock.now() + timeoutMs
    const pipe = new PassThrough({ highWaterMark })
    const context = {
      callbackWaitsForEmptyEventLoop: true,
      getRemainingTimeInMillis: () => deadline - clock.now(),
    }
    async function run() {
      try {
        await handler(event, streamOver(pipe), context)
      } catch (thrown) {
        pipe.end()
        throw thrown
      }
      await finished(pipe, { readable: false })
    }
    async function read() {
      const pieces = pipe[Symbol.asyncIterator]()
      let start = Buffer.alloc(0)
      while (!start.includes(DELIMITER)) {
        const { done, value } = await pieces.next()
        if (done) throw new Error('The answer has no head.')
        start = Buffer.concat([start, value])
      }
      const at = start.indexOf(DELIMITER)
      async function* rest() {
        if (start.length > at + 8) yield start.subarray(at + 8).toString()
        for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield String(next.value)
      }
      return { head: JSON.parse(start.subarray(0, at).toString()) as Head, pieces: rest() }
    }
    const ended = run()
    ended.catch(() => undefined)
    return {
      read,
      async answer() {
        const { head, pieces } = await read()
        let body = ''
        for await (const piece of pieces) body += piece
        return { head, body }
      },
      ended,
      context,
      break: () => pipe.destroy(new Error('socket hang up')),
    }
  }

  return { awslambda, invoke }
}

/** No `Writable`, but an object with the methods of one. */
function streamOver(pipe: PassThrough) {
  let began = false
  pipe.on('error', () => undefined)
  const stream = {
    _onBeforeFirstWrite: undefined as ((write: (piece: string | Uint8Array) => void) => void) | undefined,
    setContentType(_type: string) {
      if (began) throw new Error('Cannot set content-type, too late.')
    },
    write(piece: string | Uint8Array) {
      if (!began) stream._onBeforeFirstWrite?.((head) => void pipe.write(head))
      began = true
      return pipe.write(piece)
    },
    end: () => void pipe.end(),
    on: pipe.on.bind(pipe) as (event: 'drain' | 'error' | 'close', listener: () => void) => unknown,
  }
  return stream
}
