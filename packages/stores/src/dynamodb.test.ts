import { afterAll, beforeAll } from 'vitest'
import { dynamodb } from './dynamodb.js'
import { startTestDynamodb, type TestDynamodb } from './testing/dynamodb.js'
import { proveStore } from './testing/prove-store.js'

let server: TestDynamodb
beforeAll(async () => {
  server = await startTestDynamodb()
})
afterAll(() => server.close())

async function newTable() {
  const table = await server.newTable()
  return {
    open: () => dynamodb({ table, client: server.client }),
    remove: () => server.dropTable(table),
  }
}

proveStore('dynamodb', newTable, { operations: 50, runs: 20 })
