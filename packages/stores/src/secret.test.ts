import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SecretStore, TaskStore } from '@runbridge/core'
import { afterAll, describe, expect, it } from 'vitest'
import { dynamodb } from './dynamodb.js'
import { memory } from './memory.js'
import { postgres } from './postgres.js'
import { sqlite } from './sqlite.js'
import { startTestDynamodb, type TestDynamodb } from './testing/dynamodb.js'
import { dropSchema, newSchema, postgresUrl } from './testing/postgres.js'

const folder = mkdtempSync(join(tmpdir(), 'runbridge-secret-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
let server: Promise<TestDynamodb> | undefined
afterAll(async () => (await server)?.close())

const schemas: [string, string][] = []
afterAll(() => Promise.all(schemas.map(([url, schema]) => dropSchema(url, schema))))

const stores: Readonly<Record<string, () => (TaskStore & SecretStore) | Promise<TaskStore & SecretStore>>> = {
  memory,
  sqlite: () => sqlite({ path: join(folder, `${files++}.db`) }),
  async dynamodb() {
    server ??= startTestDynamodb()
    const { client, newTable } = await server
    return dynamodb({ table: await newTable(), client })
  },
  async postgres() {
    const [url, schema] = [await postgresUrl(), newSchema()]
    schemas.push([url, schema])
    return postgres({ url, schema })
  },
}

describe.each(Object.entries(stores))('SecretStore: %s', (_, open) => {
  it('makes 32 bytes once, others for another name', async () => {
    const store = await open()
    const [first, again, other] = await Promise.all([store.secret('a'), store.secret('a'), store.secret('b')])
    expect(first).toBeInstanceOf(Uint8Array)
    expect(first).toHaveLength(32)
    expect(again).toEqual(first)
    expect(other).not.toEqual(first)
    await store.close()
  })

  it('hands out a copy', async () => {
    const store = await open()
    const first = await store.secret('a')
    const kept = first.slice()
    first.fill(0)
    expect(await store.secret('a')).toEqual(kept)
    await store.close()
  })

  it('is unavailable once the store is closed', async () => {
    const store = await open()
    await store.close()
    await expect(store.secret('a')).rejects.toMatchObject({ code: 'unavailable' })
  })
})
