import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { taskRecord } from '@runbridge/core/testing'
import { build } from 'tsdown'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { sqlite } from './sqlite.js'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const built = at(`../.build/sqlite-process-${process.pid}`)
let path: string
let folder: string

beforeAll(async () => {
  await build({
    config: false,
    entry: { program: at('./fixtures/sqlite-process.ts') },
    outDir: built,
    format: 'esm',
    fixedExtension: true,
    dts: false,
    logLevel: 'silent',
    tsconfig: false,
    alias: {
      '@runbridge/core/testing': at('../../core/src/testing/index.ts'),
      '@runbridge/core': at('../../core/src/index.ts'),
    },
    noExternal: [/^@runbridge\//],
  })
})
afterAll(() => rmSync(built, { recursive: true, force: true }))

beforeEach(() => {
  folder = mkdtempSync(join(built, 'store-'))
  path = join(folder, 'tasks.db')
})

interface Process {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  /** What it wrote after `ready`. */
  readonly lines: string[]
  readonly ended: Promise<unknown>
}

async function start(name: string): Promise<Process> {
  const child = spawn(process.execPath, [join(built, 'program.mjs'), path, name], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  const output = createInterface({ input: child.stdout })
  const ended = Promise.all([once(child, 'exit'), once(output, 'close')])
  await once(output, 'line')
  output.on('line', (line) => lines.push(line))
  return { child, lines, ended }
}

/** Starts the processes, lets them go at once, and resolves to the last line of each when all have ended. */
async function together(count: number, work: string): Promise<(string | undefined)[]> {
  const processes = await Promise.all(Array.from({ length: count }, (_, n) => start(`p${n}`)))
  for (const { child } of processes) child.stdin.write(`${work}\n`)
  await Promise.all(processes.map(({ ended }) => ended))
  expect(processes.map(({ child }) => child.exitCode)).toEqual(Array(count).fill(0))
  return processes.map(({ lines }) => lines.at(-1))
}

it('is made and brought to its schema by several processes at once', async () => {
  expect(await together(6, 'open')).toEqual(Array(6).fill('opened'))
  const store = sqlite({ path })
  expect(await store.create(taskRecord())).toBe('created')
  await store.close()
}, 60_000)

it('gives one secret to several processes that ask at once', async () => {
  const secrets = await together(4, 'secret')
  expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(secrets).size).toBe(1)
}, 60_000)

it('counts every compare-and-set of several processes on one record', async () => {
  const store = sqlite({ path })
  await store.create(taskRecord({ marks: { n: 0 } }))
  await together(4, 'increment 50')
  expect(await store.get(taskRecord())).toMatchObject({ marks: { n: 200 }, version: 201 })
  await store.close()
}, 60_000)

it('has every record that several processes created, and each contested one once', async () => {
  const created = await together(4, 'create 50')
  expect(created.map(Number).reduce((sum, each) => sum + each)).toBe(50)
  const store = sqlite({ path })
  for (const owner of ['p0', 'p1', 'p2', 'p3', 'all']) {
    expect((await store.list(owner, {}, 1000)).records).toHaveLength(50)
  }
  await store.close()
}, 60_000)

it('has every write that a killed process was told of', async () => {
  for (const enough of [1, 30, 200]) {
    const { child, lines, ended } = await start('p')
    const store = sqlite({ path })
    await store.delete(taskRecord())
    child.stdin.write('write\n')
    const output = createInterface({ input: child.stdout })
    await new Promise<void>((resolve) => output.on('line', () => lines.length >= enough && resolve()))
    child.kill('SIGKILL')
    await ended
    const told = Number(lines.at(-1))
    const kept = await store.get(taskRecord())
    // The process may have been killed between a write and the word of it.
    expect([told, told + 1]).toContain(kept?.version)
    expect(kept?.note).toHaveLength(2000)
    await store.close()
  }
}, 60_000)
