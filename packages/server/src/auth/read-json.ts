/** The body as JSON; undefined for a longer one and for what is no JSON, which others refuse. */
export async function readJson({ body }: Request, maxBytes: number): Promise<unknown> {
  if (!body) return undefined
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return undefined
  }
}
