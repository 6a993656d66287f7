import type { AuthInfo } from '@modelcontextprotocol/server'
import type { Clock } from '@runbridge/core'

/** Timers wait no longer, in ms. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * A stream that waits for news (a GET of the older eras, `subscriptions/listen`) would tell them long after
 * its token has expired, since tokens are checked when a request arrives. It ends with the token instead; the
 * client opens another with a new one. Answers to calls are left alone: whoever waits for a run there is
 * answered when the token expires (`Caller.expiresAt`), and an answer that was cut off would keep a task's id from its owner.
 */
export function endingWithToken(
  request: Request,
  { expiresAt = Number.POSITIVE_INFINITY }: AuthInfo,
  response: Response,
  clock: Clock,
): Response {
  const { body, status, headers } = response
  const waits = request.method === 'GET' || request.headers.get('mcp-method') === 'subscriptions/listen'
  const left = expiresAt * 1000 - clock.now()
  if (!waits || !body || left > LONGEST_MS || !headers.get('content-type')?.includes('event-stream'))
    return response
  const reader = body.getReader()
  const ended = new AbortController()
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        void clock.sleep(Math.max(left, 0), ended.signal).then(() => {
          if (ended.signal.aborted) return
          ended.abort()
          controller.close()
          void reader.cancel().catch(() => undefined)
        })
      },
      async pull(controller) {
        const { done, value } = await reader.read().catch((thrown: unknown) => {
          // The stream has failed by now, and can't be closed when the token expires.
          ended.abort()
          throw thrown
        })
        if (ended.signal.aborted) return
        if (!done) return controller.enqueue(value)
        ended.abort()
        controller.close()
      },
      cancel(reason) {
        ended.abort()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { status, headers })
}
