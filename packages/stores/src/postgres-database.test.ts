import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { TaskKey, TaskStore } from '@runbridge/core'
import { sessionRecord, taskRecord } from '@runbridge/core/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { PostgresPool } from './postgres/pool.js'
import { openPool } from './postgres/pool.js'
import { SCHEMA_VERSION } from './postgres/schema.js'
import { type PostgresOptions, postgres } from './postgres.js'
import { type CuttableProxy, cuttableProxy } from './testing/cuttable-proxy.js'
import { expectFirstRecords } from './testing/first-records.js'
import { dropSchema, newSchema, postgresUrl, psql } from './testing/postgres.js'

let url: string
let proxy: CuttableProxy
let schema: string
const opened: TaskStore[] = []

beforeAll(async () => {
  url = await postgresUrl()
  const { hostname, port } = new URL(url)
  proxy = await cuttableProxy(hostname, Number(port || 5432))
}, 60_000)
afterAll(() => proxy.close())

beforeEach(() => {
  schema = newSchema()
  proxy.open = true
})
afterEach(async () => {
  proxy.open = true
  for (const store of opened.splice(0)) await store.close()
  await dropSchema(url, schema)
})

async function open(options: PostgresOptions = {}) {
  const store = await postgres({ ...(options.pool ? {} : { url }), schema, ...options })
  opened.push(store)
  return store
}

const changed = (
  changes: Partial<Record<'port' | 'password' | 'username' | 'pathname' | 'search', string>>,
) => Object.assign(new URL(url), changes).href

const proxied = () => changed({ port: String(proxy.port) })

async function refusal(options: PostgresOptions): Promise<{ code: string; message: string }> {
  return open(options).then(
    () => {
      throw new Error('it was opened')
    },
    ({ code, message }) => ({ code, message }),
  )
}

describe('a database that is refused', () => {
  it.each<[string, () => PostgresOptions, string, RegExp]>([
    ['no URL', () => ({ url: 'tasks.db' }), 'misconfigured', /write postgres:/],
    ['another kind of URL', () => ({ url: 'mysql://localhost/x' }), 'misconfigured', /write postgres:/],
    [
      'a wrong password',
      () => ({ url: changed({ password: 'wrong' }) }),
      'misconfigured',
      /refuses this user/,
    ],
    [
      'an unknown user',
      () => ({ url: changed({ username: 'nobody' }) }),
      'misconfigured',
      /refuses this user/,
    ],
    [
      'an unknown database',
      () => ({ url: changed({ pathname: '/missing' }) }),
      'misconfigured',
      /\/missing does not exist/,
    ],
    [
      'a port where nobody listens',
      () => ({ url: changed({ port: '1' }), retryMs: 0 }),
      'unavailable',
      /can’t be reached/,
    ],
    [
      'TLS that the server lacks',
      () => ({ url: changed({ search: '?sslmode=verify-full' }) }),
      'misconfigured',
      /has no TLS/,
    ],
    ['a schema that is no name', () => ({ schema: 'my-schema' }), 'misconfigured', /"my-schema" is no name/],
  ])('%s', async (_, options, code, message) => {
    const error = await refusal(options())
    expect(error.code).toBe(code)
    expect(error.message).toMatch(message)
    expect(error.message).not.toMatch(/runbridge:runbridge|password=|wrong@/)
  })

  it('a user who may not make the tables, or not use them', async () => {
    await psql(url, `create role "${schema}" login password 'x'`)
    try {
      const weak = changed({ username: schema, password: 'x' })
      expect(await refusal({ url: weak })).toMatchObject({
        code: 'misconfigured',
        message: expect.stringMatching(/Grant the user USAGE/),
      })
      await open()
      expect(await refusal({ url: weak })).toMatchObject({ code: 'misconfigured' })
      await psql(
        url,
        `grant usage on schema ${schema} to ${schema}`,
        `grant select, insert, update, delete on all tables in schema ${schema} to ${schema}`,
      )
      // Tables that are up to date need no more than that.
      const store = await open({ url: weak })
      expect(await store.create(taskRecord())).toBe('created')
    } finally {
      await psql(url, `drop owned by "${schema}"`, `drop role "${schema}"`)
    }
  })

  it('a schema of another program, left as it is', async () => {
    await psql(url, `create schema ${schema}`, `create table ${schema}.task (id int)`)
    expect(await refusal({})).toMatchObject({
      code: 'misconfigured',
      message: expect.stringMatching(/another program/),
    })
    const [columns] = await psql(url, `select * from ${schema}.task`)
    expect(columns?.fields.map(({ name }) => name)).toEqual(['id'])
  })

  it('a schema of a newer Runbridge', async () => {
    await open()
    await psql(url, `update ${schema}.schema_version set version = ${SCHEMA_VERSION + 1}`)
    expect(await refusal({})).toMatchObject({
      code: 'misconfigured',
      message: expect.stringContaining(
        `its schema is ${SCHEMA_VERSION + 1}, this one knows up to ${SCHEMA_VERSION}`,
      ),
    })
  })

  it('both a URL and a pool, or neither', async () => {
    await expect(postgres({})).rejects.toMatchObject({ code: 'misconfigured' })
    await expect(postgres({ url, pool: {} as PostgresPool })).rejects.toMatchObject({ code: 'misconfigured' })
  })
})

describe('the schema', () => {
  it('of version 1 is brought to the present one with all its records', async () => {
    const dump = readFileSync(new URL('./fixtures/postgres-schema-1.sql', import.meta.url), 'utf8')
    await psql(url, dump.replaceAll(/\bS([.;])/g, `${schema}$1`))
    const store = await open()
    const records = await expectFirstRecords(store)
    expect(await store.claim('local', 'name', 'tsk_a')).toBe('tsk_a')
    expect(await store.sweep(1041, 10)).toMatchObject({ removed: 1, due: [{ taskId: 'tsk_a' }] })
    expect(await store.update(records[1]!)).toBe('updated')
    expect(Buffer.from(await store.secret('request-state')).toString('hex')).toMatch(/^000102.*1e1f$/)
    expect(await store.sessions.create(sessionRecord())).toBe('created')
    const [version] = await psql(url, `select version from ${schema}.schema_version`)
    expect(version?.rows).toEqual([{ version: SCHEMA_VERSION }])
  })

  it('is made once by replicas that start at once', async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => open({ maxConnections: 2 })))
    expect(await stores[0]?.create(taskRecord())).toBe('created')
    expect(await stores[7]?.get(taskRecord())).toEqual(taskRecord())
  })
})

it('takes no id that is too long for its index', async () => {
  const store = await open()
  const owner = randomBytes(4_000).toString('base64')
  await expect(store.create(taskRecord({ owner }))).rejects.toMatchObject({ code: 'too_large' })
})

it('goes by the clock of the database, whatever its own shows', async () => {
  const truth = Date.now()
  vi.spyOn(Date, 'now').mockReturnValue(truth + 3_600_000)
  try {
    const store = await open()
    expect(Math.abs((store.now?.() ?? 0) - truth)).toBeLessThan(600_000)
  } finally {
    vi.restoreAllMocks()
  }
})

describe('connections', () => {
  it('that break while nobody uses them are made anew', async () => {
    const store = await open({ url: proxied() })
    await store.create(taskRecord())
    proxy.cut()
    expect(await store.get(taskRecord())).toEqual(taskRecord())
  })

  it('that lose the answer to a write don’t make its second sending a conflict', async () => {
    const store = await open({ url: proxied() })
    proxy.loseAnswers(1)
    expect(await store.create(taskRecord())).toBe('created')
    proxy.loseAnswers(1)
    expect(await store.update(taskRecord({ note: 'mine' }))).toBe('updated')
    expect(await store.get(taskRecord())).toEqual(taskRecord({ version: 2, note: 'mine' }))
    proxy.loseAnswers(1)
    expect(await store.create(taskRecord({ note: 'another' }))).toBe('exists')
    expect(await store.update(taskRecord({ version: 1 }))).toBe('conflict')
  })

  it('that lose the answer to a write of a session neither', async () => {
    const { sessions } = await open({ url: proxied() })
    proxy.loseAnswers(1)
    expect(await sessions.create(sessionRecord())).toBe('created')
    proxy.loseAnswers(1)
    expect(await sessions.update(sessionRecord({ seenAt: 1 }))).toBe('updated')
    expect(await sessions.get('ses_1')).toEqual(sessionRecord({ version: 2, seenAt: 1 }))
    proxy.loseAnswers(1)
    expect(await sessions.create(sessionRecord())).toBe('exists')
    expect(await sessions.update(sessionRecord())).toBe('conflict')
  })

  it('are waited for, and unavailable after that', async () => {
    const store = await open({ url: proxied(), retryMs: 3_000 })
    await store.create(taskRecord())
    proxy.open = false
    proxy.cut()
    const patient = store.get(taskRecord())
    setTimeout(() => {
      proxy.open = true
    }, 200)
    expect(await patient).toEqual(taskRecord())
    const hasty = await open({ url: proxied(), retryMs: 0 })
    proxy.open = false
    proxy.cut()
    await expect(hasty.get(taskRecord())).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The task store can’t be reached. Nothing was written, or all of it: look again.',
    })
  })

  it('of a pool that was passed in stay open', async () => {
    const pool = await openPool(url, 2)
    const store = await open({ pool })
    await store.close()
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await pool.end()
  })
})

describe('watching', () => {
  const other = taskRecord({ taskId: 'other' })
  const times = { pingMs: 60_000, pongMs: 5_000 }

  /** What a watcher of the store is told, one after the other. */
  function watched(store: TaskStore) {
    const told: (TaskKey | undefined)[] = []
    store.watch?.((key) => told.push(key))
    const next = (expected: TaskKey | undefined) =>
      vi.waitFor(() => {
        const at = told.findIndex((key) => JSON.stringify(key) === JSON.stringify(expected))
        if (at < 0)
          throw new Error(`not told of ${JSON.stringify(expected)}, only of ${JSON.stringify(told)}`)
        told.splice(0, at + 1)
      }, 10_000)
    return { told, next }
  }

  it('tells of what another process changed, and not of what this one did', async () => {
    const [mine, theirs] = [await open(times), await open(times)]
    const { told, next } = watched(mine)
    await next(undefined)
    for (const record of [taskRecord(), other]) await mine.create(record)
    await mine.update(taskRecord({ updatedAt: 1 }))
    // A lease on a read is nothing that a client could see.
    await theirs.update(taskRecord({ version: 2, updatedAt: 1, refreshAfter: 7 }))
    await theirs.update({ ...other, updatedAt: 2 })
    await next({ owner: 'local', taskId: 'other' })
    expect(told).toEqual([])
    await theirs.update(taskRecord({ version: 3, updatedAt: 3 }))
    await next({ owner: 'local', taskId: 'tsk_1' })
  })

  it('keeps ids apart that look alike, and says that something changed for one that is too long', async () => {
    const [mine, theirs] = [await open(times), await open(times)]
    const { next } = watched(mine)
    await next(undefined)
    for (const [owner, told] of [
      ['o\u0000"\ud800', { owner: 'o\u0000"\ud800', taskId: 't' }],
      // Compressed it fits into an index, and not into a notification.
      ['ü'.repeat(4_000), undefined],
    ] as const) {
      expect(await theirs.create(taskRecord({ owner, taskId: 't' }))).toBe('created')
      expect(await theirs.update(taskRecord({ owner, taskId: 't', updatedAt: 1 }))).toBe('updated')
      await next(told)
    }
  })

  it('looks at everything after its connection was lost', async () => {
    const mine = await open({ ...times, url: proxied(), pollMs: 50 })
    const theirs = await open(times)
    await theirs.create(taskRecord())
    const { told, next } = watched(mine)
    await next(undefined)
    proxy.cut()
    await next(undefined)
    await vi.waitFor(async () => {
      // Listens again once it tells of a key.
      const { version } = (await theirs.get(taskRecord()))!
      await theirs.update(taskRecord({ version, updatedAt: version }))
      expect(told.filter((key) => key !== undefined)).not.toEqual([])
    }, 10_000)
  })

  it('asks at intervals where LISTEN brings nothing, and listens once it does', async () => {
    const pool = await openPool(url, 4)
    // As a pooler that changes connections between transactions: LISTEN succeeds, on somebody else's connection.
    let pooling = true
    const pooler: PostgresPool = {
      query: (text, values) => pool.query(text, values),
      end: () => pool.end(),
      async connect() {
        const client = await pool.connect()
        if (!pooling) return client
        return {
          query: async (text, values) => client.query(text.startsWith('listen') ? 'select 1' : text, values),
          on: (event: string, listener: (message: never) => void) =>
            client.on(event as 'end', listener as () => void),
          release: (destroy) => client.release(destroy),
        }
      },
    }
    const warn = vi.fn()
    const info = vi.fn()
    const log = { warn, info, error: vi.fn() }
    const mine = await open({ pool: pooler, pollMs: 20, pingMs: 100, pongMs: 30, log })
    const { told, next } = watched(mine)
    for (let times = 0; times < 3; times += 1) await next(undefined)
    expect(warn).toHaveBeenCalledTimes(1)
    expect(info).not.toHaveBeenCalled()
    pooling = false
    await vi.waitFor(() => expect(info).toHaveBeenCalled(), 10_000)
    const theirs = await open()
    await theirs.create(taskRecord())
    await theirs.update(taskRecord({ updatedAt: 1 }))
    await next({ owner: 'local', taskId: 'tsk_1' })
    expect(told).toEqual([])
    await mine.close()
    await pool.end()
  })

  it('ends with the store, and with the way to stop that it returns', async () => {
    const [mine, theirs] = [await open(times), await open(times)]
    await theirs.create(taskRecord())
    const stopped = vi.fn()
    const stop = mine.watch?.(stopped)
    const { next } = watched(mine)
    await next(undefined)
    stop?.()
    stopped.mockClear()
    await theirs.update(taskRecord({ updatedAt: 1 }))
    await next({ owner: 'local', taskId: 'tsk_1' })
    expect(stopped).not.toHaveBeenCalled()
    await mine.close()
  })
})
