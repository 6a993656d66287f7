import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/**
 * A way to a Function URL of ministack, which knows it by the host that the request names: nobody resolves that name here.
 * @param {import('../ministack.mjs').Ministack} ministack @param {string} functionUrl
 * @param {Record<string, string>} headers for every request
 */
export async function startUrlFront(ministack, functionUrl, headers) {
  const { hostname } = new URL(functionUrl)
  let trouble = ''
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/' } = request
    const body = await text(request)
    try {
      const answer = await ministack.request(
        { method, path: url, headers: { ...request.headers, ...headers, host: hostname } },
        body,
      )
      if (answer.status >= 500) trouble = answer.text
      response.writeHead(answer.status, { 'content-type': answer.headers['content-type'] }).end(answer.text)
    } catch (thrown) {
      trouble = String(thrown)
      response.writeHead(502).end(trouble)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    /** What the function last failed with, which a client does not show. */
    trouble: () => trouble,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
