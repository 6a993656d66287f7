import type { Json, JsonObject } from './json.js'
import { isJsonObject } from './json.js'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function byteLength(text: string): number {
  return encoder.encode(text).length
}

/** The longest piece of at most `maxBytes` UTF-8 bytes that ends (or starts) at a whole character. */
function piece(text: string, maxBytes: number, keep: 'head' | 'tail'): string {
  const bytes = encoder.encode(text)
  const inside = (at: number) => (bytes[at] ?? 0) >= 0x80 && (bytes[at] ?? 0) < 0xc0
  if (keep === 'head') {
    let end = Math.max(0, maxBytes)
    while (end > 0 && inside(end)) end -= 1
    return decoder.decode(bytes.subarray(0, end))
  }
  let start = Math.max(0, bytes.length - maxBytes)
  while (start < bytes.length && inside(start)) start += 1
  return decoder.decode(bytes.subarray(start))
}

/**
 * The text, or its head (tail) with a mark that says how much is missing. The whole, mark included, has at
 * most `maxBytes` bytes as long as the mark itself fits.
 */
export function cutText(text: string, maxBytes: number, keep: 'head' | 'tail' = 'head'): string {
  const total = byteLength(text)
  if (total <= maxBytes) return text
  const mark = (kept: number) => `[cut: ${kept} of ${total} bytes]`
  const kept = piece(text, maxBytes - byteLength(mark(total)) - 1, keep)
  const label = mark(byteLength(kept))
  return keep === 'head' ? `${kept}\n${label}` : `${label}\n${kept}`
}

/** Text of a run inside a sentence of ours: one line, no control characters, at most `maxBytes`. */
export function oneLine(text: string, maxBytes = 300): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
  return byteLength(line) <= maxBytes ? line : `${piece(line, maxBytes - 3, 'head')}…`
}

/** Words of a run, marked as such: quoted, so that they can't be taken for words of the server. */
export function quoted(text: string, maxBytes?: number): string {
  return JSON.stringify(oneLine(text, maxBytes))
}

/**
 * `{path.to.value}` stands for that part of `values`: a string as it is, anything else as JSON, absent as nothing.
 * @param shown what becomes of each where the text is read as ours
 */
export function fillTemplate(
  template: string,
  values: Json,
  shown: (text: string) => string = (text) => text,
): string {
  return template.replace(/\{([\w-]+(?:\.[\w-]+)*)\}/g, (_, path: string) => {
    const value = path.split('.').reduce<Json | undefined>(step, values)
    if (value === undefined) return ''
    return shown(typeof value === 'string' ? value : JSON.stringify(value))
  })
}

function step(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(key)]
  return isJsonObject(value) && Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined
}

/** A duration as a person reads it: `850 ms`, `12.3 s`, `4 min 5 s`, `3 h 20 min`, `2 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`
  const seconds = Math.round(ms / 1000)
  const parts: [number, string, number, string] =
    seconds < 3600
      ? [Math.floor(seconds / 60), 'min', seconds % 60, 's']
      : seconds < 86_400
        ? [Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'min']
        : [Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3600), 'h']
  const [most, unit, rest, small] = parts
  return rest === 0 ? `${most} ${unit}` : `${most} ${unit} ${rest} ${small}`
}
