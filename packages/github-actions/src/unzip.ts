import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'

/** More entries than a result ever has. */
const MAX_ENTRIES = 100

export interface ZipBounds {
  /** Bytes of the one file that is read. */
  readonly most: number
  chosen(name: string): boolean
}

/**
 * The one chosen file of a zip, or why there is none that can be read, as a sentence. Names that lead out of the
 * folder and sizes that lie are refused; nothing is written anywhere.
 */
export async function readFromZip(
  data: Buffer,
  { most, chosen }: ZipBounds,
): Promise<{ readonly file: Buffer } | { readonly refused: string }> {
  let zip: ZipFile | undefined
  try {
    zip = await fromBufferPromise(data, { strictFileNames: true, validateEntrySizes: true, autoClose: false })
    if (zip.entryCount > MAX_ENTRIES)
      return { refused: `it has ${zip.entryCount} files, and at most ${MAX_ENTRIES} are looked at` }
    const found: Entry[] = []
    for await (const entry of zip.eachEntry()) if (chosen(entry.fileName)) found.push(entry)
    const [entry, second] = found
    if (!entry) return { refused: 'no file in it fits' }
    if (second) return { refused: `${found.length} files in it fit` }
    return await contentOf(zip, entry, most)
  } catch (thrown) {
    return {
      refused: `it is no zip that can be trusted (${thrown instanceof Error ? thrown.message : 'unreadable'})`,
    }
  } finally {
    zip?.close()
  }
}

async function contentOf(
  zip: ZipFile,
  entry: Entry,
  most: number,
): Promise<{ readonly file: Buffer } | { readonly refused: string }> {
  if (entry.isEncrypted()) return { refused: 'its file is encrypted' }
  if (entry.uncompressedSize > most)
    return { refused: `its file has ${entry.uncompressedSize} bytes, and at most ${most} are read` }
  const stream = await zip.openReadStreamPromise(entry)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) return { refused: `its file has more than ${most} bytes` }
    chunks.push(chunk)
  }
  return { file: Buffer.concat(chunks) }
}
