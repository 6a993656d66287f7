/** What an error says and where, with its causes. */
interface PlainError {
  readonly type: string
  readonly message: string
  readonly stack: string | undefined
  /** A word such as `ECONNRESET` or `denied`. */
  readonly code?: string
  readonly cause?: PlainError
}

const MOST_CAUSES = 5

/**
 * An error as the log may show it. Clients of HTTP and of databases put on their errors what they sent and what they
 * got, which holds arguments, results and addresses with credentials: nothing of that passes.
 */
export function plainError(thrown: unknown, depth = 0): unknown {
  if (!(thrown instanceof Error)) return thrown
  const { name: type, message, stack, cause } = thrown
  const { code } = thrown as { code?: unknown }
  return {
    type,
    message,
    stack,
    ...(typeof code === 'string' && { code }),
    ...(cause instanceof Error &&
      depth < MOST_CAUSES && { cause: plainError(cause, depth + 1) as PlainError }),
  } satisfies PlainError
}
