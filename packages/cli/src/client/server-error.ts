import { SdkError, SdkHttpError } from '@modelcontextprotocol/client'
import { DispatchError, JsonRpcResponseError } from '@modelcontextprotocol/ext-tasks/client'
import { RunbridgeError } from '@runbridge/core'

/** What kept a command from its answer, in words; a defect stays what it is. */
export function serverError(url: string, thrown: unknown): unknown {
  const told = (code: RunbridgeError['code'], message: string) =>
    new RunbridgeError(code, message, { cause: thrown })
  // The server's own words, which say what to do.
  if (thrown instanceof JsonRpcResponseError) return told('conflict', thrown.message)
  if (SdkHttpError.isInstance(thrown)) {
    return thrown.status === 401
      ? told(
          'unauthenticated',
          `${url} wants a token that it knows: put one into the environment variable RUNBRIDGE_TOKEN.`,
        )
      : told(
          'unavailable',
          `${url} answers with HTTP ${thrown.status}: name the address of a Runbridge server, which ends in /mcp, with --url.`,
        )
  }
  const code = networkCode(thrown)
  if (code === undefined && !SdkError.isInstance(thrown) && !(thrown instanceof DispatchError)) return thrown
  const why = code === undefined ? '' : ` (${code})`
  return told(
    'unavailable',
    `No server answers at ${url}${why}: start one with \`runbridge serve\`, or name another with --url.`,
  )
}

/** `ECONNREFUSED` and the like, from wherever in the chain of causes it is. */
function networkCode(thrown: unknown): string | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    const { code } = error as { code?: unknown }
    if (typeof code === 'string' && /^(E[A-Z]+|UND_ERR_\w+)$/.test(code)) return code
  }
  return undefined
}
