import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { build } from 'tsdown'
import { afterAll, beforeAll, expect } from 'vitest'
import type { SharedStore } from '../fixtures/store-process.js'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export interface Process {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  readonly output: Interface
  /** What it wrote after `ready`. */
  readonly lines: string[]
  readonly ended: Promise<unknown>
}

/** Builds the program of `fixtures/store-process.ts` for the tests of a file, and starts it as often as they want. */
export function storeProcesses(name: string) {
  // Where its imports find the packages, and no build of the packages cleans up.
  const folder = at(`../../../../node_modules/.cache/runbridge/${name}-processes-${process.pid}`)

  beforeAll(async () => {
    await build({
      config: false,
      entry: { program: at('../fixtures/store-process.ts') },
      outDir: folder,
      format: 'esm',
      fixedExtension: true,
      dts: false,
      logLevel: 'silent',
      tsconfig: false,
      alias: {
        '@runbridge/core/testing': at('../../../core/src/testing/index.ts'),
        '@runbridge/core': at('../../../core/src/index.ts'),
      },
      noExternal: [/^@runbridge\//],
    })
  }, 60_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  async function start(store: SharedStore, name: string): Promise<Process> {
    const child = spawn(process.execPath, [join(folder, 'program.mjs'), JSON.stringify(store), name], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // The stand-in for DynamoDB looks at no credentials; the SDK wants some.
      env: {
        ...process.env,
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        NODE_NO_WARNINGS: '1',
      },
    })
    const lines: string[] = []
    const output = createInterface({ input: child.stdout })
    const ended = Promise.all([once(child, 'exit'), once(output, 'close')])
    const first = await Promise.race([once(output, 'line'), ended.then(() => undefined)])
    if (first === undefined) throw new Error(`The process of ${name} ended with ${child.exitCode} at once.`)
    output.on('line', (line) => lines.push(line))
    return { child, output, lines, ended }
  }

  /** Starts the processes, lets them go at once, and resolves to the last line of each when all have ended. */
  async function together(store: SharedStore, count: number, work: string): Promise<(string | undefined)[]> {
    const processes = await Promise.all(Array.from({ length: count }, (_, n) => start(store, `p${n}`)))
    for (const { child } of processes) child.stdin.write(`${work}\n`)
    await Promise.all(processes.map(({ ended }) => ended))
    expect(processes.map(({ child }) => child.exitCode)).toEqual(Array(count).fill(0))
    return processes.map(({ lines }) => lines.at(-1))
  }

  return { folder, start, together }
}
