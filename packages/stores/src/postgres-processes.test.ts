import type { TaskStore } from '@runbridge/core'
import { postgres } from './postgres.js'
import { dropSchema, newSchema, postgresUrl } from './testing/postgres.js'
import { processTests } from './testing/process-tests.js'
import { storeProcesses } from './testing/processes.js'

processTests({
  processes: storeProcesses('postgres'),
  open: async () => {
    const url = await postgresUrl()
    const schema = newSchema()
    const opened: TaskStore[] = []
    return {
      shared: { postgres: { url, schema } },
      join: async () => {
        const store = await postgres({ url, schema })
        opened.push(store)
        return store
      },
      dispose: async () => {
        for (const store of opened) await store.close()
        await dropSchema(url, schema)
      },
    }
  },
})
