import { expect, it, vi } from 'vitest'
import { verifySigV4 } from '../interop/lambda/sigv4.mjs'

/** AWS's own example of the documentation and of its test suite (`get-vanilla`, `get-vanilla-query-order-key-case`). */
const EXAMPLE = {
  secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  now: Date.UTC(2015, 7, 30, 12, 36),
  authorization: (signature: string) =>
    `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
}

it.each([
  ['', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['Param2=value2&Param1=value1', 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500'],
])('the check of signatures takes the published vectors of AWS: ?%s', (query, signature) => {
  const request = {
    method: 'GET',
    path: '/',
    query,
    headers: {
      host: 'example.amazonaws.com',
      'x-amz-date': '20150830T123600Z',
      authorization: EXAMPLE.authorization(signature),
    },
    body: Buffer.alloc(0),
  }
  const expected = {
    service: 'service',
    region: 'us-east-1',
    secretOf: () => ({ secretAccessKey: EXAMPLE.secret }),
    now: EXAMPLE.now,
  }
  expect(verifySigV4(request, expected)).toMatchObject({ accessKeyId: 'AKIDEXAMPLE' })
  const changed = { ...request, headers: { ...request.headers, host: 'other.amazonaws.com' } }
  expect(verifySigV4(changed, expected)).toEqual({ refused: 'another signature' })
})

const secret = { secretAccessKey: 'a secret of nobody', sessionToken: 'a token/of+a session==' }

interface Sent {
  readonly url: URL
  readonly init: { method?: string; headers: Record<string, string>; body?: Uint8Array }
}

/** What the example sends, caught before it goes out. */
async function sentBy(url: string, init: RequestInit, options: object = {}): Promise<Sent> {
  const sample = new URL('../../examples/aws-iam/signed-fetch.mjs', import.meta.url).href
  const { signedFetch } = await import(sample)
  const fetch = vi.fn(async (_url: URL, _init: object) => new Response())
  const credentials = async () => ({ accessKeyId: 'AKIDEXAMPLE', ...secret })
  await signedFetch({ credentials, fetch, ...options })(url, init)
  const [sentUrl, sentInit] = fetch.mock.calls[0] ?? []
  return { url: sentUrl, init: sentInit } as unknown as Sent
}

const FUNCTION_URL = 'https://abc123.lambda-url.eu-central-1.on.aws'
const post = {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'mcp-method': 'tools/list' },
  body: '{"name":"Zoë"}',
}

function verified({ url, init }: Sent, place: { service: string; region: string }, now = Date.now()) {
  const request = {
    method: init.method ?? 'GET',
    path: url.pathname,
    query: url.search.slice(1),
    headers: { ...init.headers, host: url.host },
    body: Buffer.from(init.body ?? ''),
  }
  return verifySigV4(request, { ...place, secretOf: () => secret, now })
}

it('the example signs method, path, query, headers, session token and body for its host’s service and region', async () => {
  const sent = await sentBy(`${FUNCTION_URL}/a%20b/mcp?z=1&a=%2F&a=0&e=`, post)
  const place = { service: 'lambda', region: 'eu-central-1' }
  expect(verified(sent, place)).toEqual({
    accessKeyId: 'AKIDEXAMPLE',
    signedHeaders: [
      'content-type',
      'host',
      'mcp-method',
      'x-amz-content-sha256',
      'x-amz-date',
      'x-amz-security-token',
    ],
  })
  expect(Buffer.from(sent.init.body ?? '').toString()).toBe(post.body)
  const { init, url } = sent
  const changes: Sent[] = [
    { url, init: { ...init, method: 'PUT' } },
    { url: new URL('/mcp', url), init },
    { url: new URL('?z=2', url), init },
    { url, init: { ...init, headers: { ...init.headers, 'mcp-method': 'tools/call' } } },
    { url, init: { ...init, headers: { ...init.headers, 'x-amz-security-token': '' } } },
    { url, init: { ...init, body: Buffer.from('{}') } },
  ]
  for (const change of changes) expect(verified(change, place)).toHaveProperty('refused')
  expect(verified(sent, place, Date.now() + 600_000)).toHaveProperty('refused')
})

it.each([
  ['https://id.execute-api.us-west-2.amazonaws.com/mcp', {}, { service: 'execute-api', region: 'us-west-2' }],
  [
    'http://127.0.0.1:8080/mcp',
    { service: 'lambda', region: 'us-east-1' },
    { service: 'lambda', region: 'us-east-1' },
  ],
])('the example knows where %s is', async (url, options, place) => {
  expect(
    verified(await sentBy(url, { headers: { accept: 'text/event-stream' } }, options), place),
  ).not.toHaveProperty('refused')
})

it('the example says what to give for a domain of one’s own', async () => {
  await expect(sentBy('https://mcp.example.com/mcp', post)).rejects.toThrow('give signedFetch both')
})
