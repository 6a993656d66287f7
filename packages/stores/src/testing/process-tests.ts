import type { SecretStore, TaskStore } from '@runbridge/core'
import { taskRecord } from '@runbridge/core/testing'
import { expect, it } from 'vitest'
import type { SharedStore } from '../fixtures/store-process.js'
import type { storeProcesses } from './processes.js'

export interface ProcessTests {
  /** How much work each process does: less for a store that takes longer. Default 50. */
  readonly times?: number
  readonly processes: ReturnType<typeof storeProcesses>
  /** A fresh store: how processes open it, and the same store in this process. */
  open(): Promise<{ shared: SharedStore; join(): Promise<TaskStore & SecretStore>; dispose(): Promise<void> }>
}

/** What several processes on one store have to keep, whichever it is. */
export function processTests({ processes, open, times = 50 }: ProcessTests): void {
  const { start, together } = processes

  const test = (name: string, body: (opened: Awaited<ReturnType<typeof open>>) => Promise<void>) =>
    it(name, async () => {
      const opened = await open()
      try {
        await body(opened)
      } finally {
        await opened.dispose()
      }
    }, 60_000)

  test('is made and brought to its schema by several processes at once', async ({ shared, join }) => {
    expect(await together(shared, 6, 'open')).toEqual(Array(6).fill('opened'))
    const store = await join()
    expect(await store.create(taskRecord())).toBe('created')
  })

  test('gives one secret to several processes that ask at once', async ({ shared }) => {
    const secrets = await together(shared, 4, 'secret')
    expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(new Set(secrets).size).toBe(1)
  })

  test('counts every compare-and-set of several processes on one record', async ({ shared, join }) => {
    const store = await join()
    await store.create(taskRecord({ marks: { n: 0 } }))
    await together(shared, 4, `increment ${times}`)
    expect(await store.get(taskRecord())).toMatchObject({
      marks: { n: 4 * times },
      version: 4 * times + 1,
    })
  })

  test('has every record that several processes created, and each contested one once', async ({
    shared,
    join,
  }) => {
    const created = await together(shared, 4, `create ${times}`)
    expect(created.map(Number).reduce((sum, each) => sum + each)).toBe(times)
    const store = await join()
    for (const owner of ['p0', 'p1', 'p2', 'p3', 'all']) {
      expect((await store.list(owner, {}, 1000)).records).toHaveLength(times)
    }
  })

  test('has every write that a killed process was told of', async ({ shared, join }) => {
    const store = await join()
    for (const enough of [1, times, 3 * times]) {
      const { child, output, lines, ended } = await start(shared, 'p')
      await store.delete(taskRecord())
      child.stdin.write('write\n')
      await new Promise<void>((resolve) => output.on('line', () => lines.length >= enough && resolve()))
      child.kill('SIGKILL')
      await ended
      const told = Number(lines.at(-1))
      const kept = await store.get(taskRecord())
      // The process may have been killed between a write and the word of it, or the write was on its way.
      expect([told, told + 1]).toContain(kept?.version)
      expect(kept?.note).toHaveLength(2000)
    }
  })
}
