import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/** As AWS names one. */
const DOMAIN = 'abcdefghijklmnopqrstuvwxyz012345.lambda-url.us-east-1.on.aws'

/** @typedef {(request: import('./sigv4.mjs').Signed) => { iam: object } | { refused: string }} Authorize who signed */

/**
 * A Function URL on loopback: turns requests into events of payload format 2.0 and results into answers.
 * @param {(event: object) => Promise<any>} invoke
 * @param {Authorize} [authorize] as AuthType AWS_IAM does; default NONE
 */
export async function startFunctionUrl(invoke, authorize) {
  const server = createServer(async (request, response) => {
    const { pathname: path, search } = new URL(request.url ?? '', 'http://localhost')
    const body = await text(request)
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(',')]),
    )
    const query = search.slice(1)
    const signed = { method: request.method ?? '', path, query, headers, body: Buffer.from(body) }
    const authorizer = authorize?.(signed)
    if (authorizer && 'refused' in authorizer) {
      response.writeHead(403, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ Message: `Forbidden: ${authorizer.refused}` }))
      return
    }
    const event = {
      version: '2.0',
      routeKey: '$default',
      rawPath: path,
      rawQueryString: query,
      headers: { ...headers, host: DOMAIN },
      requestContext: {
        accountId: 'anonymous',
        apiId: DOMAIN.split('.')[0],
        ...(authorizer && { authorizer }),
        domainName: DOMAIN,
        http: {
          method: request.method,
          path,
          protocol: 'HTTP/1.1',
          sourceIp: '127.0.0.1',
          userAgent: 'interop',
        },
        requestId: '00000000-0000-0000-0000-000000000000',
        routeKey: '$default',
        stage: '$default',
        timeEpoch: Date.now(),
      },
      ...(body !== '' && { body }),
      isBase64Encoded: false,
    }
    try {
      const { statusCode, headers: answered, body: answer } = await invoke(event)
      response.writeHead(statusCode, answered)
      // A function that streams is not told of a client that leaves: what it goes on to say is dropped.
      if (typeof answer === 'object') answer.pipe(response)
      else response.end(answer)
    } catch (thrown) {
      response.writeHead(502).end(String(thrown))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
