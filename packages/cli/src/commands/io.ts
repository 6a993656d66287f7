import { printable } from '../printable.js'

/** Where a command writes: results to `out`, everything about them to `err`. */
export interface Io {
  out(text: string): void
  err(text: string): void
}

/** What is used of a stream of the process. */
interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** Exactly what is written, but for a terminal: what servers and runs say must not steer it. */
export function ioTo(out: Output, err: Output): Io {
  const lines = (to: Output) => (text: string) => void to.write(`${to.isTTY ? printable(text) : text}\n`)
  return { out: lines(out), err: lines(err) }
}

export const standardIo: Io = ioTo(process.stdout, process.stderr)
