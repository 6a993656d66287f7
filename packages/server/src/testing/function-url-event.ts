import { createToken } from '../auth/static-tokens.js'
import { headersOf, message } from './raw-client.js'

export const HOST = 'abc123.lambda-url.eu-central-1.on.aws'
/** A caller that the tests admit. */
export const ci = createToken()

interface SentEvent {
  readonly name?: string
  readonly tasks?: boolean
  readonly headers?: Record<string, string>
  readonly iam?: object
  readonly base64?: boolean
  readonly legacy?: boolean
}

/** An event as a Function URL sends it, cut to what says something. */
export function requestEvent(method: string, path: string, body?: string, sent: SentEvent = {}) {
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: { host: HOST, ...sent.headers },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'abc123',
      domainName: HOST,
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'test' },
      stage: '$default',
      ...(sent.iam && { authorizer: { iam: sent.iam } }),
    },
    ...(body !== undefined && { body: sent.base64 ? Buffer.from(body).toString('base64') : body }),
    isBase64Encoded: sent.base64 === true,
  }
}

/** One MCP request of `ci`. */
export function mcpEvent(method: string, params: object = {}, sent: SentEvent = {}) {
  const { name, taskId } = params as { name?: string; taskId?: string }
  const body = sent.legacy
    ? { jsonrpc: '2.0', id: 1, method, params }
    : message(1, method, params, { tasks: sent.tasks ?? false })
  const headers = sent.legacy
    ? { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    : headersOf(method, name ?? taskId)
  return requestEvent('POST', '/mcp', JSON.stringify(body), {
    ...sent,
    headers: { authorization: `Bearer ${ci.token}`, ...headers, ...sent.headers },
  })
}
