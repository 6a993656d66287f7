import { describe, expect, it } from 'vitest'
import { addressOf, type HttpEvent, parseHttpEvent, toRequest, toResult } from './http-event.js'

/** As AWS documents payload format 2.0, cut to what says something. */
function eventOf({ method = 'POST', stage = '$default', ...more }: Record<string, unknown> = {}): HttpEvent {
  const event = parseHttpEvent({
    version: '2.0',
    routeKey: '$default',
    rawPath: '/mcp',
    rawQueryString: '',
    headers: { host: 'ignored.example.com' },
    requestContext: {
      domainName: 'api.example.com',
      stage,
      http: { method, path: '/mcp' },
      authorizer: null,
    },
    isBase64Encoded: false,
    ...more,
  })
  if (!event) throw new Error('The event was not understood.')
  return event
}

describe('the request of an event', () => {
  it('has the address by which AWS routed it, whatever the client wrote', () => {
    expect(toRequest(eventOf()).url).toBe('https://api.example.com/mcp')
    expect(addressOf(eventOf())).toBe('https://api.example.com')
  })

  it.each([
    ['/prod/mcp', 'https://api.example.com/prod', 'https://api.example.com/mcp'],
    ['/prod', 'https://api.example.com/prod', 'https://api.example.com/'],
    ['/mcp', 'https://api.example.com', 'https://api.example.com/mcp'],
    ['/products', 'https://api.example.com', 'https://api.example.com/products'],
  ])('%s behind the stage prod is %s and the rest of the path', (rawPath, address, url) => {
    const event = eventOf({ stage: 'prod', rawPath })
    expect([addressOf(event), toRequest(event).url]).toEqual([address, url])
  })

  it('keeps the encoding of path and query, and encodes what is not', () => {
    const raw = eventOf({ rawPath: '/gr%C3%BC%C3%9Fe', rawQueryString: 'a=1&a=2&b=%26' })
    expect(toRequest(raw).url).toBe('https://api.example.com/gr%C3%BC%C3%9Fe?a=1&a=2&b=%26')
    const plain = eventOf({ rawPath: '/grüße', rawQueryString: 'n=Zoë' })
    expect(toRequest(plain).url).toBe('https://api.example.com/gr%C3%BC%C3%9Fe?n=Zo%C3%AB')
  })

  it('goes nowhere else for a path that looks like an address', () => {
    expect(new URL(toRequest(eventOf({ rawPath: '//evil.example/mcp' })).url).host).toBe('api.example.com')
    expect(parseHttpEvent({ ...eventOf(), rawPath: '.evil.example/mcp' })).toBeUndefined()
  })

  it('finds headers whatever their case, with several of a name in one', () => {
    const { headers } = toRequest(eventOf({ headers: { 'Mcp-Method': 'tools/list', Accept: 'a/b,c/d' } }))
    expect([headers.get('mcp-method'), headers.get('ACCEPT')]).toEqual(['tools/list', 'a/b,c/d'])
  })

  it('has its cookies back in one header', () => {
    const { headers } = toRequest(eventOf({ cookies: ['a=1', 'b=2'] }))
    expect(headers.get('cookie')).toBe('a=1; b=2')
    expect(toRequest(eventOf({ cookies: [] })).headers.has('cookie')).toBe(false)
  })

  it('has its body, decoded where it came in Base64, and none for GET and HEAD', async () => {
    expect(await toRequest(eventOf({ body: '{"ü":1}' })).text()).toBe('{"ü":1}')
    const body = Buffer.from([0, 255, 10]).toString('base64')
    const read = await toRequest(eventOf({ body, isBase64Encoded: true })).arrayBuffer()
    expect([...new Uint8Array(read)]).toEqual([0, 255, 10])
    expect(await toRequest(eventOf({ body: null })).text()).toBe('')
    for (const method of ['GET', 'HEAD']) {
      const request = toRequest(eventOf({ method, body: 'x' }))
      expect([request.method, request.body]).toEqual([method, null])
    }
  })

  it.each([{ headers: { 'x-name': '名' } }, { method: 'TRACE' }])('that is none throws: %j', (more) => {
    expect(() => toRequest(eventOf(more))).toThrow(TypeError)
  })
})

describe('the result of an answer', () => {
  it('has each cookie by itself, and no header for them', async () => {
    const response = new Response(null, { status: 204 })
    response.headers.append('set-cookie', 'a=1; Path=/')
    response.headers.append('set-cookie', 'b=2')
    expect(await toResult(response)).toEqual({
      statusCode: 204,
      headers: {},
      cookies: ['a=1; Path=/', 'b=2'],
      body: '',
      isBase64Encoded: false,
    })
  })

  it.each(['application/json', 'text/event-stream', 'application/problem+json; charset=utf-8'])(
    'of %s is text',
    async (type) => {
      const result = await toResult(new Response('"ü"', { headers: { 'content-type': type } }))
      expect(result).toMatchObject({ body: '"ü"', isBase64Encoded: false })
      expect(result.cookies).toBeUndefined()
    },
  )

  it('of another type is in Base64, byte by byte', async () => {
    const response = new Response(new Uint8Array([0, 255]), { headers: { 'content-type': 'image/png' } })
    expect(await toResult(response)).toMatchObject({ body: 'AP8=', isBase64Encoded: true })
  })
})
