import { manualClock } from '@runbridge/core/testing'
import { expect, it } from 'vitest'
import { endingWithToken } from './ending-with-token.js'

const EVENTS = { 'content-type': 'text/event-stream' }
const listen = () =>
  new Request('http://localhost/mcp', { method: 'POST', headers: { 'mcp-method': 'subscriptions/listen' } })

function stream() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const seen = { cancelled: false }
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given
    },
    cancel() {
      seen.cancelled = true
    },
  })
  return {
    seen,
    response: new Response(body, { headers: EVENTS }),
    push: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
    fail: () => controller?.error(new Error('gone')),
  }
}

const info = (expiresAt?: number) => ({
  token: 't',
  clientId: 'c',
  scopes: [],
  ...(expiresAt !== undefined && { expiresAt }),
})

it.each<[string, () => Request]>([
  ['subscriptions/listen', listen],
  ['the stream of an older era', () => new Request('http://localhost/mcp')],
])('%s ends when the token does, and lets go of what it followed', async (_name, request) => {
  const clock = manualClock()
  const source = stream()
  const bounded = endingWithToken(request(), info((clock.now() + 60_000) / 1000), source.response, clock)
  const reader = bounded.body?.getReader()
  source.push('data: 1\n\n')
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: 1\n\n')
  const next = reader?.read()
  await clock.advance(59_999)
  expect(source.seen.cancelled).toBe(false)
  await clock.advance(1)
  expect(await next).toEqual({ done: true, value: undefined })
  expect(source.seen.cancelled).toBe(true)
})

it('one that ends before, or that its reader leaves, ends as it would', async () => {
  const clock = manualClock()
  const ended = stream()
  const bounded = endingWithToken(listen(), info(clock.now() / 1000 + 60), ended.response, clock)
  ended.push('data: 1\n\n')
  ended.end()
  expect(await bounded.text()).toBe('data: 1\n\n')
  const left = stream()
  await endingWithToken(listen(), info(clock.now() / 1000 + 60), left.response, clock).body?.cancel()
  expect(left.seen.cancelled).toBe(true)
  await clock.advance(60_000)
})

it('one that fails before has nothing left to end with its token', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const clock = manualClock()
  const failed = stream()
  const bounded = endingWithToken(listen(), info(clock.now() / 1000 + 60), failed.response, clock)
  failed.fail()
  await expect(bounded.text()).rejects.toThrow('gone')
  await clock.advance(60_000)
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

it('the answer to a call, an answer that is no stream and a token without an end are left alone', () => {
  const clock = manualClock()
  const soon = info(clock.now() / 1000 + 1)
  const call = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'mcp-method': 'tools/call' },
  })
  const { response } = stream()
  expect(endingWithToken(call, soon, response, clock)).toBe(response)
  expect(endingWithToken(listen(), info(Number.POSITIVE_INFINITY), response, clock)).toBe(response)
  expect(endingWithToken(listen(), info(), response, clock)).toBe(response)
  const json = Response.json({})
  expect(endingWithToken(listen(), soon, json, clock)).toBe(json)
})
