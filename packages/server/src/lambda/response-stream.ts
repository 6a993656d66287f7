import { RunbridgeError } from '@runbridge/core'
import { headOf, type ResponseHead } from './http-event.js'

/** What is used of the stream that Lambda's Node.js runtime hands to a streaming handler. `end` takes no data. */
export interface ResponseStream {
  write(piece: string | Uint8Array): boolean
  end(): void
  on(event: 'drain' | 'error' | 'close', listener: () => void): unknown
}

/** What is used of an invocation's context. */
export interface InvocationContext {
  /** Until the function's timeout, in ms. */
  getRemainingTimeInMillis(): number
  callbackWaitsForEmptyEventLoop: boolean
}

/** What the runtime calls, once `streamifyResponse` has marked it. Rejects like an ordinary handler. */
export type StreamingHandler = (
  event: unknown,
  stream: ResponseStream,
  context: InvocationContext,
) => Promise<void>

/**
 * The global of the Node.js runtimes.
 * https://docs.aws.amazon.com/lambda/latest/dg/config-rs-write-functions.html
 */
interface AwsLambda {
  streamifyResponse(handler: StreamingHandler): StreamingHandler
  readonly HttpResponseStream: { from(stream: ResponseStream, head: ResponseHead): ResponseStream }
}

export function awsLambda(): AwsLambda {
  // The AWS SDKs make one of their own where there is none.
  const { awslambda } = globalThis as { readonly awslambda?: Partial<AwsLambda> }
  if (awslambda?.streamifyResponse && awslambda.HttpResponseStream) return awslambda as AwsLambda
  throw new RunbridgeError(
    'misconfigured',
    'Response streaming needs `awslambda.streamifyResponse`, which only the Node.js runtimes of Lambda have. Turn it off elsewhere.',
  )
}

/**
 * Writes an answer as it comes, no faster than it is taken, and leaves the stream open. What produces it is ended when
 * the stream fails or `cut` aborts. AWS says nothing of a client that went away: the function goes on and is billed.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html
 */
export async function writeResponse(response: Response, to: ResponseStream, cut: AbortSignal): Promise<void> {
  const head = headOf(response)
  const reader = response.body?.getReader()
  // A line break instead of nothing: the runtime writes the head with the first piece, and Function URLs have kept
  // connections open after an empty one. A 204 has no room for it; where we answer so, every 2xx means the same.
  // https://github.com/aws/aws-lambda-nodejs-runtime-interface-client/issues/95
  const statusCode = head.statusCode === 204 ? 200 : head.statusCode
  const stream = awsLambda().HttpResponseStream.from(to, { ...head, statusCode })
  let written = false
  let left: Promise<void> | undefined
  let wake = () => {}
  const leave = () => {
    left ??= reader?.cancel().catch(() => undefined)
    wake()
  }
  stream.on('drain', () => wake())
  stream.on('error', leave)
  stream.on('close', leave)
  cut.addEventListener('abort', leave, { once: true })
  for (let next = await reader?.read(); next && !next.done && !left; next = await reader?.read()) {
    if (next.value.length === 0) continue
    written = true
    if (stream.write(next.value)) continue
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  await left
  if (!written) stream.write('\n')
}
