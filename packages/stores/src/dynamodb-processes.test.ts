import type { TaskStore } from '@runbridge/core'
import { afterAll, beforeAll } from 'vitest'
import { dynamodb } from './dynamodb.js'
import { type Dynalite, LOCAL, startDynalite } from './testing/dynalite.js'
import { processTests } from './testing/process-tests.js'
import { storeProcesses } from './testing/processes.js'

let dynalite: Dynalite
beforeAll(async () => {
  dynalite = await startDynalite()
})
afterAll(() => dynalite.close())

processTests({
  times: 10,
  processes: storeProcesses('dynamodb'),
  open: async () => {
    const table = await dynalite.newTable()
    const opened: TaskStore[] = []
    return {
      shared: { dynamodb: { table, region: LOCAL.region, endpoint: dynalite.endpoint } },
      join: async () => {
        const store = await dynamodb({ table, client: dynalite.client })
        opened.push(store)
        return store
      },
      dispose: async () => {
        for (const store of opened) await store.close()
        await dynalite.dropTable(table)
      },
    }
  },
})
