/**
 * Does work under a signal that aborts with the first of these. Once it is done nothing stays with them, other than
 * with `AbortSignal.any`, of which Node 20 keeps a note on every source for ever: `closing` lives as long as the process.
 */
export async function underAny<T>(
  sources: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const first = new AbortController()
  const abort = () => first.abort(sources.find(({ aborted }) => aborted)?.reason)
  for (const source of sources) source.addEventListener('abort', abort)
  if (sources.some(({ aborted }) => aborted)) abort()
  try {
    return await work(first.signal)
  } finally {
    for (const source of sources) source.removeEventListener('abort', abort)
  }
}
