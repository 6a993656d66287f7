import { EXTENSION_ID } from '@runbridge/core/wire/ext-tasks'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
type Any = any

export interface Exchange {
  readonly status: number
  readonly headers: Headers
  /** The last message: the answer. */
  readonly answer: Any
  readonly result: Any
  readonly error: Any
  /** What came before the answer on the same stream. */
  readonly notifications: readonly Any[]
}

export interface Sent {
  readonly tasks?: boolean
  readonly elicitation?: boolean | object
  readonly progressToken?: string | number
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

const PREFIX = 'io.modelcontextprotocol/'
let id = 0

/** One request of the 2026-07-28 era by plain fetch, so that a test sees exactly what is on the wire. */
export async function send(
  url: string,
  method: string,
  params: object = {},
  sent: Sent = {},
): Promise<Exchange> {
  const given = params as { name?: string; taskId?: string }
  id += 1
  const name = given.name ?? given.taskId
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headersOf(method, name), ...sent.headers },
    body: JSON.stringify(message(id, method, params, sent)),
    ...(sent.signal && { signal: sent.signal }),
  })
  return exchange(response)
}

export function headersOf(method: string, name?: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': name }),
  }
}

/** A request with its envelope, as it is on every wire of 2026-07-28. */
export function message(id: string | number, method: string, params: object, sent: Sent = {}) {
  const { tasks = false, elicitation = false, progressToken } = sent
  const _meta = {
    [`${PREFIX}protocolVersion`]: '2026-07-28',
    [`${PREFIX}clientInfo`]: { name: 'raw', version: '0' },
    [`${PREFIX}clientCapabilities`]: {
      ...(elicitation !== false && { elicitation: elicitation === true ? {} : elicitation }),
      ...(tasks && { extensions: { [EXTENSION_ID]: {} } }),
    },
    ...(progressToken !== undefined && { progressToken }),
  }
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } }
}

/** One request of the 2025 era without a session. */
export async function sendLegacy(
  url: string,
  method: string,
  params: object = {},
  headers: Record<string, string> = {},
): Promise<Exchange> {
  id += 1
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
  })
  return exchange(response)
}

async function exchange(response: Response): Promise<Exchange> {
  const text = await response.text()
  const messages = response.headers.get('content-type')?.includes('event-stream')
    ? [...text.matchAll(/^data: (.+)$/gm)].map((match) => JSON.parse(match[1] ?? ''))
    : [text === '' ? undefined : parse(text)]
  const answer = messages.at(-1)
  return {
    status: response.status,
    headers: response.headers,
    answer,
    result: answer?.result,
    error: answer?.error,
    notifications: messages.slice(0, -1),
  }
}

function parse(text: string): Any {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
