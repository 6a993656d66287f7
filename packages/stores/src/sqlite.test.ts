import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from './sqlite.js'
import { proveStore } from './testing/prove-store.js'

async function newFile() {
  const folder = await mkdtemp(join(tmpdir(), 'runbridge-sqlite-'))
  return {
    open: async () => sqlite({ path: join(folder, 'tasks.db') }),
    remove: () => rm(folder, { recursive: true }),
  }
}

proveStore('sqlite', newFile, { operations: 60, runs: 60 })
