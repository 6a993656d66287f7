import { RunbridgeError } from '@runbridge/core'
import type { Engine } from './engine.js'
import { type Sent, send } from './request.js'

export interface Piece {
  readonly data: Buffer
  /** Whether something before it was dropped. */
  readonly cut: boolean
}

/**
 * What GitHub redirects to: logs and artifacts lie in a storage of others, under an address that is good for a minute
 * and carries its own credential, so ours is not sent along.
 * @param bounds `keep` the last bytes alone; more than `most` bytes are refused
 */
export async function download(
  engine: Engine,
  sent: Sent,
  bounds: { readonly most: number; readonly keep: number },
): Promise<Piece> {
  const { location, data } = await send(engine, sent)
  if (location === undefined) {
    // Some proxies follow the redirect themselves.
    const whole = Buffer.from(data instanceof ArrayBuffer ? new Uint8Array(data) : String(data))
    return lastBytes([whole], bounds.keep)
  }
  const response = await fetch(location, { signal: sent.signal, redirect: 'error' })
  if (!response.ok || response.body === null) {
    await response.body?.cancel()
    throw new RunbridgeError(
      'unavailable',
      `The storage behind GitHub could not give ${sent.what} (HTTP ${response.status}).`,
    )
  }
  let size = 0
  let chunks: Buffer[] = []
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > bounds.most)
      throw new RunbridgeError('too_large', `There are more than ${bounds.most} bytes of ${sent.what}.`)
    chunks.push(Buffer.from(chunk))
    if (total(chunks) > 2 * bounds.keep) chunks = [lastBytes(chunks, bounds.keep).data]
  }
  const { data: kept } = lastBytes(chunks, bounds.keep)
  return { data: kept, cut: size > kept.length }
}

function total(chunks: readonly Buffer[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0)
}

function lastBytes(chunks: readonly Buffer[], keep: number): Piece {
  const whole = Buffer.concat(chunks)
  return { data: whole.subarray(Math.max(0, whole.length - keep)), cut: whole.length > keep }
}
