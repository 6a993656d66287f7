import * as z from 'zod'

const DEFAULT_STAGE = '$default'

/**
 * What is used of payload format 2.0, which Function URLs and HTTP APIs of API Gateway send: headers of one name are
 * joined by commas, cookies stand by themselves, and bodies of other types than text come in Base64.
 * https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
const httpEvent = z.looseObject({
  version: z.literal('2.0'),
  /** Percent-encoded as it was sent; behind a named stage of API Gateway it begins with the stage. */
  rawPath: z.string().startsWith('/'),
  rawQueryString: z.string().default(''),
  headers: z.record(z.string(), z.string()).default({}),
  cookies: z.array(z.string()).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().default(false),
  requestContext: z.looseObject({
    /** Of the address that AWS routed the request by; no header of the client. */
    domainName: z.string().min(1),
    /** `$default` of Function URLs, and of APIs whose addresses name no stage. */
    stage: z.string().min(1).default(DEFAULT_STAGE),
    http: z.looseObject({ method: z.string() }),
    authorizer: z.unknown().optional(),
  }),
})

export type HttpEvent = z.output<typeof httpEvent>

export interface ResponseHead {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  /** Each becomes a header `Set-Cookie`, of which there is no other way to send two. */
  readonly cookies?: readonly string[]
}

/** How such a request is answered. */
export interface HttpResult extends ResponseHead {
  readonly body: string
  readonly isBase64Encoded: boolean
}

/** The event of a request; undefined for everything else that a function may be invoked with. */
export function parseHttpEvent(event: unknown): HttpEvent | undefined {
  return httpEvent.safeParse(event).data
}

/** Where the request was sent to, as AWS routed it: its scheme and host, and the stage if its path begins with one. */
export function addressOf(event: HttpEvent): string {
  return `https://${event.requestContext.domainName}${stagePrefix(event)}`
}

/** `/STAGE` where the address names the stage. A domain of one's own leads to a stage without naming it. */
export function stagePrefix({ rawPath, requestContext: { stage } }: HttpEvent): string {
  const prefix = `/${stage}`
  return stage !== DEFAULT_STAGE && `${rawPath}/`.startsWith(`${prefix}/`) ? prefix : ''
}

/** The request without its stage. Throws where it can't be expressed, such as for a header of no legal characters. */
export function toRequest(event: HttpEvent): Request {
  const { rawPath, rawQueryString, headers, cookies, body, isBase64Encoded, requestContext } = event
  const { domainName, http } = requestContext
  const path = rawPath.slice(stagePrefix(event).length) || '/'
  const query = rawQueryString === '' ? '' : `?${rawQueryString}`
  const bodied = typeof body === 'string' && http.method !== 'GET' && http.method !== 'HEAD'
  const sent = new Headers(headers)
  if (cookies && cookies.length > 0) sent.set('cookie', cookies.join('; '))
  return new Request(new URL(`https://${domainName}${path}${query}`), {
    method: http.method,
    headers: sent,
    ...(bodied && { body: isBase64Encoded ? new Uint8Array(Buffer.from(body, 'base64')) : body }),
  })
}

export function headOf(response: Response): ResponseHead {
  const cookies = response.headers.getSetCookie()
  const headers = new Headers(response.headers)
  headers.delete('set-cookie')
  return {
    statusCode: response.status,
    headers: Object.fromEntries(headers),
    ...(cookies.length > 0 && { cookies }),
  }
}

/** Reads the answer to its end: a stream of messages is one text then. */
export async function toResult(response: Response): Promise<HttpResult> {
  const bytes = Buffer.from(await response.arrayBuffer())
  const isBase64Encoded = !isText(response.headers.get('content-type'))
  return {
    ...headOf(response),
    body: bytes.toString(isBase64Encoded ? 'base64' : 'utf8'),
    isBase64Encoded,
  }
}

function isText(contentType: string | null): boolean {
  return contentType === null || /^(text\/|application\/(json|[\w.-]+\+json)\b)/i.test(contentType)
}
