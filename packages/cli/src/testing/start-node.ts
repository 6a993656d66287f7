import { execFile, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const inRepository = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))

/** The command as users run it; `built` makes it. */
export const main = inRepository('packages/cli/dist/main.js')
export const libraryExample = inRepository('examples/library.mjs')

/** Brings every package's dist up to date. */
export async function built(): Promise<void> {
  await promisify(execFile)(process.execPath, [inRepository('test/bin/build.mjs'), '--js'])
}

export interface Started {
  /** The first text on standard output that matches; rejects when the process ends without it. */
  said(pattern: RegExp): Promise<string>
  /** Writes to its standard input, which stays open until `endInput`. */
  write(text: string): void
  endInput(): void
  /** Reads its standard output no more, as a host that is gone. */
  closeOutput(): void
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<{ status: number | null; out: string; err: string }>
}

/** A Node process with credentials that no endpoint on loopback looks at, and nothing else of our environment. */
export function startNode(
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Started {
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: 'pipe',
    env: { PATH: process.env.PATH, AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local', ...env },
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  // It may end before it has read what was written to it.
  child.stdin.on('error', () => undefined)
  const out = text(child.stdout).catch(() => '(not read to its end)')
  const ended = Promise.all([exited, out, text(child.stderr)]).then(([status, out, err]) => ({
    status,
    out,
    err,
  }))
  let printed = ''
  return {
    ended,
    write: (text) => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    closeOutput: () => void child.stdout.destroy(),
    kill: (signal) => void child.kill(signal),
    said: (pattern) =>
      Promise.race([
        new Promise<string>((resolve) => {
          child.stdout.on('data', (chunk) => {
            printed += chunk
            const found = pattern.exec(printed)
            if (found) resolve(found[0])
          })
        }),
        ended.then(({ out, err }) => Promise.reject(new Error(`It ended before ${pattern}: ${out}${err}`))),
      ]),
  }
}
