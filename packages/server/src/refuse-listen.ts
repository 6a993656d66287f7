import { readJson } from './auth/read-json.js'

const REASON =
  'subscriptions/listen is not served here: this server stands still between requests, and response streaming (`streaming`) is off. Poll tasks/get at the pollIntervalMs that it says.'

/** The answer where nothing goes on after an answer. As for a method that is not there: hosts poll then. */
export async function refuseListen(
  request: Request,
  { parsedBody }: { readonly parsedBody?: unknown },
  maxBytes: number,
): Promise<Response> {
  const body = (parsedBody ?? (await readJson(request, maxBytes))) as { id?: unknown } | undefined
  const { id } = body ?? {}
  const answered = typeof id === 'string' || typeof id === 'number' ? id : null
  const error = { code: -32601, message: REASON, data: { reason: 'frozen_between_requests' } }
  return Response.json({ jsonrpc: '2.0', id: answered, error }, { status: 404 })
}
