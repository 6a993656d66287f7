import * as z from 'zod'

/**
 * What is used of payload format 2.0, which Function URLs and HTTP APIs of API Gateway send.
 * https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads
 */
const httpEvent = z.looseObject({
  version: z.literal('2.0'),
  rawPath: z.string(),
  rawQueryString: z.string().default(''),
  headers: z.record(z.string(), z.string()).default({}),
  cookies: z.array(z.string()).optional(),
  body: z.string().optional(),
  isBase64Encoded: z.boolean().default(false),
  requestContext: z.looseObject({
    /** Of the address that AWS routed the request by; no header of the client. */
    domainName: z.string().min(1),
    http: z.looseObject({ method: z.string() }),
    authorizer: z.unknown().optional(),
  }),
})

export type HttpEvent = z.output<typeof httpEvent>

/** How such a request is answered. */
export interface HttpResult {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly isBase64Encoded: false
}

/** The event of a request; undefined for everything else that a function may be invoked with. */
export function parseHttpEvent(event: unknown): HttpEvent | undefined {
  return httpEvent.safeParse(event).data
}

/** Where the request was sent to: its scheme and host, as AWS routed it. */
export function addressOf({ requestContext }: HttpEvent): string {
  return `https://${requestContext.domainName}`
}

export function toRequest(event: HttpEvent): Request {
  const { rawPath, rawQueryString, headers, body, isBase64Encoded, requestContext } = event
  const { method } = requestContext.http
  const query = rawQueryString === '' ? '' : `?${rawQueryString}`
  const bodied = body !== undefined && method !== 'GET' && method !== 'HEAD'
  return new Request(new URL(`${addressOf(event)}${rawPath}${query}`), {
    method,
    headers,
    ...(bodied && { body: isBase64Encoded ? new Uint8Array(Buffer.from(body, 'base64')) : body }),
  })
}

/** Reads the answer to its end: a stream of messages is one text then. */
export async function toResult(response: Response): Promise<HttpResult> {
  const body = await response.text()
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body,
    isBase64Encoded: false,
  }
}
