import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sqlite } from './sqlite.js'
import { processTests } from './testing/process-tests.js'
import { storeProcesses } from './testing/processes.js'

const processes = storeProcesses('sqlite')

processTests({
  processes,
  open: async () => {
    const folder = mkdtempSync(join(processes.folder, 'store-'))
    const path = join(folder, 'tasks.db')
    const opened: ReturnType<typeof sqlite>[] = []
    return {
      shared: { sqlite: { path } },
      join: async () => {
        const store = sqlite({ path })
        opened.push(store)
        return store
      },
      dispose: async () => {
        for (const store of opened) await store.close()
        rmSync(folder, { recursive: true })
      },
    }
  },
})
