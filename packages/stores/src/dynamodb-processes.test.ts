import type { TaskStore } from '@runbridge/core'
import { afterAll, beforeAll } from 'vitest'
import { dynamodb } from './dynamodb.js'
import { LOCAL, startTestDynamodb, type TestDynamodb } from './testing/dynamodb.js'
import { processTests } from './testing/process-tests.js'
import { storeProcesses } from './testing/processes.js'

let server: TestDynamodb
beforeAll(async () => {
  server = await startTestDynamodb()
})
afterAll(() => server.close())

processTests({
  times: 10,
  processes: storeProcesses('dynamodb'),
  open: async () => {
    const table = await server.newTable()
    const opened: TaskStore[] = []
    return {
      shared: { dynamodb: { table, region: LOCAL.region, endpoint: server.endpoint } },
      join: async () => {
        const store = await dynamodb({ table, client: server.client })
        opened.push(store)
        return store
      },
      dispose: async () => {
        for (const store of opened) await store.close()
        await server.dropTable(table)
      },
    }
  },
})
