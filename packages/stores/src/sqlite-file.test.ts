import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { taskRecord } from '@runbridge/core/testing'
import Database from 'libsql'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from './sqlite/open.js'
import { SCHEMA_VERSION } from './sqlite/schema.js'
import { sqlite } from './sqlite.js'
import { expectFirstRecords } from './testing/first-records.js'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runbridge-sqlite-'))
  path = join(folder, 'tasks.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** The message of the `misconfigured` error with which the path is refused. */
function refusal(file: string, about = file): string {
  try {
    sqlite({ path: file })
  } catch (thrown) {
    expect(thrown).toMatchObject({ name: 'RunbridgeError', code: 'misconfigured' })
    expect((thrown as Error).message).toContain(about)
    return (thrown as Error).message
  }
  throw new Error('the path was taken')
}

/** Works on the file as a program of its own, without any busy timeout. */
function raw<T>(work: (db: Database.Database) => T): T {
  const db = new Database(path)
  try {
    return work(db)
  } finally {
    db.close()
  }
}

const open = (options: { busyTimeoutMs?: number } = {}) => sqlite({ path, ...options })

describe('the file', () => {
  it('is readable by its owner only, whatever the process’s mask, and so are the files beside it', async () => {
    const mask = process.umask(0)
    const store = open()
    process.umask(mask)
    await store.create(taskRecord())
    const names = readdirSync(folder)
    expect(names).toContain('tasks.db-wal')
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    await store.close()
  })

  it('keeps the mode that it has', async () => {
    writeFileSync(path, '')
    chmodSync(path, 0o640)
    await open().close()
    expect(statSync(path).mode & 0o777).toBe(0o640)
  })

  it('has everything by itself once the store is closed', async () => {
    const store = open()
    await store.create(taskRecord())
    await store.close()
    const copy = join(folder, 'copy.db')
    writeFileSync(copy, readFileSync(path))
    const restored = sqlite({ path: copy })
    expect(await restored.get(taskRecord())).toEqual(taskRecord())
    await restored.close()
  })

  it('can be copied while it is in use', async () => {
    const store = open()
    await store.create(taskRecord())
    const secret = await store.secret('key')
    const copy = join(folder, 'copy.db')
    raw((db) => db.exec(`vacuum into '${copy}'`))
    await store.update(taskRecord({ note: 'later' }))
    const restored = sqlite({ path: copy })
    expect(await restored.get(taskRecord())).toEqual(taskRecord())
    expect(await restored.secret('key')).toEqual(secret)
    await restored.close()
    await store.close()
  })

  it('has a write-ahead log that is flushed at every commit', () => {
    const db = openDatabase(path, 0)
    expect(db.pragma('journal_mode')).toMatchObject([{ journal_mode: 'wal' }])
    // 2 is FULL (sqlite.org/pragma.html#pragma_synchronous).
    expect(db.pragma('synchronous')).toMatchObject([{ synchronous: 2 }])
    expect(db.pragma('fullfsync')).toMatchObject([{ fullfsync: 1 }])
    db.close()
  })
})

describe('a path that is refused', () => {
  it('in a folder that is missing', () => {
    expect(refusal(join(folder, 'missing', 'tasks.db'), join(folder, 'missing'))).toMatch(
      /missing is not a folder\. Make it/,
    )
    writeFileSync(join(folder, 'file'), '')
    expect(refusal(join(folder, 'file', 'tasks.db'), join(folder, 'file'))).toMatch(/file is not a folder/)
  })

  it('of a folder', () => {
    expect(refusal(folder)).toMatch(/is not a file/)
  })

  it('of a file that is not a database, and leaves it as it is', () => {
    for (const content of ['tools:\n  - name: deploy\n', 'x'.repeat(10_000)]) {
      writeFileSync(path, content)
      expect(refusal(path)).toMatch(/is not an SQLite database/)
      expect(readFileSync(path, 'utf8')).toBe(content)
    }
  })

  it('of another program’s database, and leaves it as it is', () => {
    raw((db) =>
      db.exec('create table schema_version (version integer); insert into schema_version values (1)'),
    )
    expect(refusal(path)).toMatch(/of another program/)
    expect(raw((db) => db.prepare('select name from sqlite_master').all())).toHaveLength(1)
  })

  it('that the process may not write', () => {
    const forbidden = join(folder, 'forbidden')
    mkdirSync(forbidden, { mode: 0o555 })
    writeFileSync(join(folder, 'read-only.db'), '', { mode: 0o444 })
    // The superuser may write everything: it becomes somebody else for the moment.
    const superuser = process.geteuid?.() === 0
    if (superuser) chmodSync(folder, 0o755)
    if (superuser) process.seteuid?.(65534)
    try {
      expect(refusal(join(forbidden, 'tasks.db'))).toMatch(
        /not writable by this process \(EACCES\)\. Let it write/,
      )
      expect(refusal(join(folder, 'read-only.db'))).toMatch(/[Ll]et .* write to the file and to its folder/)
    } finally {
      if (superuser) process.seteuid?.(0)
    }
  })
})

describe('the schema', () => {
  const version = () => raw((db) => db.prepare('select version from schema_version').all())

  it('of a new file is the present one', async () => {
    await open().close()
    expect(version()).toEqual([{ version: SCHEMA_VERSION }])
  })

  it('of version 1 is brought to the present one with all its records', async () => {
    const dump = fileURLToPath(new URL('./fixtures/sqlite-schema-1.sql', import.meta.url))
    raw((db) => db.exec(readFileSync(dump, 'utf8')))
    const store = open()
    const records = await expectFirstRecords(store)
    expect(await store.sweep(1041, 10)).toMatchObject({ removed: 1, due: [{ taskId: 'tsk_a' }] })
    expect(await store.update(records[1]!)).toBe('updated')
    expect(await store.claim('local', 'n', 'tsk_a')).toBe('tsk_a')
    expect(await store.secret('key')).toHaveLength(32)
    await store.close()
    expect(version()).toEqual([{ version: SCHEMA_VERSION }])
  })

  it('of a newer Runbridge is refused, and the file left as it is', async () => {
    await open().close()
    raw((db) => db.exec('update schema_version set version = 99'))
    expect(refusal(path)).toMatch(/newer Runbridge: its schema is 99, .* Update Runbridge/)
    expect(version()).toEqual([{ version: 99 }])
  })
})

describe('a file that another process has locked', () => {
  /** Holds the write lock until the function that it returns is called. */
  function lock(): () => void {
    const db = new Database(path)
    db.exec('begin immediate')
    return () => {
      db.exec('rollback')
      db.close()
    }
  }

  it('makes writes unavailable after the busy timeout, and leaves nothing half done', async () => {
    const store = open({ busyTimeoutMs: 50 })
    await store.create(taskRecord())
    const unlock = lock()
    const refused = {
      code: 'unavailable',
      message: expect.stringMatching(/locked by another process.*try again/),
    }
    await expect(store.update(taskRecord({ note: 'new' }))).rejects.toMatchObject(refused)
    await expect(store.create(taskRecord({ taskId: 'new' }))).rejects.toMatchObject(refused)
    await expect(store.delete(taskRecord())).rejects.toMatchObject(refused)
    await expect(store.sweep(0, 10)).rejects.toMatchObject(refused)
    expect((await store.list('local', {}, 10)).records).toEqual([taskRecord()])
    unlock()
    expect(await store.update(taskRecord({ note: 'new' }))).toBe('updated')
    await store.close()
  })

  it('is waited for without holding up this process', async () => {
    const store = open({ busyTimeoutMs: 60_000 })
    const unlock = lock()
    const writing = store.create(taskRecord())
    // Only a process that goes on meanwhile comes to this.
    setTimeout(unlock, 30)
    expect(await writing).toBe('created')
    await store.close()
  })

  it('stops waiting when the store is closed', async () => {
    const store = open({ busyTimeoutMs: 60_000 })
    const unlock = lock()
    const writing = store.create(taskRecord())
    await store.close()
    await expect(writing).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('closed'),
    })
    unlock()
  })

  it('is unavailable when it has to be brought to the present schema', () => {
    raw((db) => db.pragma('journal_mode = WAL'))
    const unlock = lock()
    expect(() => open({ busyTimeoutMs: 30 })).toThrow(expect.objectContaining({ code: 'unavailable' }))
    unlock()
  })

  it('opens when its schema is the present one', async () => {
    await open().close()
    const unlock = lock()
    const store = open({ busyTimeoutMs: 30 })
    expect(await store.get(taskRecord())).toBeUndefined()
    unlock()
    await store.close()
  })
})
