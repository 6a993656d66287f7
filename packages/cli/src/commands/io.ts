/** Where a command writes: results to `out`, everything about them to `err`. */
export interface Io {
  out(text: string): void
  err(text: string): void
}

export const standardIo: Io = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
}
