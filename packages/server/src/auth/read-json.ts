/**
 * The body as JSON; undefined for a longer one and for what is no JSON, which others refuse. Nobody waits for the rest of
 * a longer one to be given up: of a cloned request that ends only when the other half is given up too.
 */
export async function readJson({ body }: Request, maxBytes: number): Promise<unknown> {
  if (!body) return undefined
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.byteLength
    if (size > maxBytes) {
      void reader.cancel().catch(() => undefined)
      return undefined
    }
    chunks.push(next.value)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return undefined
  }
}
