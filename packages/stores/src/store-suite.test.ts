import type { TaskRecord, TaskStore } from '@runbridge/core'
import { type SuiteRunner, storeSuite } from '@runbridge/core/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from './memory.js'

/** Runs the kit against a store and resolves to the names of the tests that fail. */
async function failures(broken: (store: TaskStore) => Partial<TaskStore>): Promise<string[]> {
  const tests: [string, () => void | Promise<void>][] = []
  const nothing = () => undefined
  const runner: SuiteRunner = {
    describe: (_, define) => define(),
    it: (name, test) => tests.push([name, test]),
    beforeAll: nothing,
    afterAll: nothing,
    beforeEach: nothing,
    afterEach: nothing,
  }
  storeSuite(runner, {
    name: 'broken',
    capabilities: { durable: false, multiProcess: false },
    open: async () => {
      const store = memory()
      return { store: { ...store, ...broken(store) }, dispose: () => store.close() }
    },
    forAll: (check) =>
      fc.assert(fc.asyncProperty(fc.array(fc.nat(0xffffffff), { maxLength: 40, size: 'max' }), check), {
        numRuns: 60,
        seed: 1,
      }),
  })
  const failed: string[] = []
  for (const [name, test] of tests) {
    try {
      await test()
    } catch {
      failed.push(name)
    }
  }
  return failed
}

const anyVersion = async (store: TaskStore, record: TaskRecord) => {
  const present = await store.get(record)
  return store.update({ ...record, version: present?.version ?? 1 })
}

/** Each a store with one defect, and a test that has to find it. */
const DEFECTS: Readonly<Record<string, readonly [(store: TaskStore) => Partial<TaskStore>, string]>> = {
  'overwrites on create': [
    (store) => ({
      create: async (record) => {
        await store.delete(record)
        return store.create(record)
      },
    }),
    'leaves the present record as it is when it exists',
  ],
  'forgets the owner': [
    (store) => ({
      get: async (key) =>
        (await store.get(key)) ??
        (await store.byRun({ runKey: 'rb-1' })).find((r) => r.taskId === key.taskId),
    }),
    'lets two owners use one task id',
  ],
  'compares ids without case': [
    (store) => ({ get: (key) => store.get({ ...key, taskId: key.taskId.toLowerCase() }) }),
    'tells "task" from "TASK"',
  ],
  'updates any version': [
    (store) => ({ update: (record) => anyVersion(store, record) }),
    'refuses an update from any version but the present one, and changes nothing',
  ],
  'reads, waits, then writes': [
    (store) => ({
      update: async (record) => {
        const present = await store.get(record)
        if (present === undefined) return 'missing'
        if (present.runKey !== record.runKey || present.version !== record.version) return 'conflict'
        while ((await anyVersion(store, record)) === 'conflict');
        return 'updated'
      },
    }),
    'counts every successful compare-and-set',
  ],
  'compares the version alone': [
    (store) => ({
      update: async (record) => store.update({ ...record, runKey: (await store.get(record))?.runKey ?? '' }),
    }),
    'refuses what was meant for an earlier record of the same id and version',
  ],
  'deletes whichever record has the version': [
    (store) => ({
      delete: async (key, only) => {
        const present = await store.get(key)
        return present && only ? store.delete(key, { ...only, runKey: present.runKey }) : store.delete(key)
      },
    }),
    'refuses what was meant for an earlier record of the same id and version',
  ],
  'lets an update move the record to another run key': [
    (store) => ({
      get: async (key) => {
        const record = await store.get(key)
        return record?.note === undefined ? record : { ...record, runKey: 'moved' }
      },
    }),
    'gives back every field as it was given',
  ],
  'deletes any version': [
    (store) => ({ delete: (key) => store.delete(key) }),
    'removes a record, in any version or only in the one named',
  ],
  'lists oldest first': [
    (store) => ({
      list: async (...query) => {
        const page = await store.list(...query)
        return { ...page, records: [...page.records].reverse() }
      },
    }),
    'shows whole records, newest first by creation, whatever was written first or last',
  ],
  'pages by offset': [
    (store) => ({
      list: async (owner, filter, limit, cursor) => {
        const { records } = await store.list(owner, filter, 1000)
        const from = Number(cursor ?? 0)
        const next = from + limit < records.length && { next: String(from + limit) }
        return { records: records.slice(from, from + limit), ...next }
      },
    }),
    'shows what stays exactly once while records come and go between pages',
  ],
  'filters after the page is cut and stops at an empty one': [
    (store) => ({
      list: async (owner, { tool, ...filter }, limit, cursor) => {
        const page = await store.list(owner, filter, limit, cursor)
        const records = page.records.filter((record) => tool === undefined || record.tool === tool)
        return records.length === 0 ? { records } : { ...page, records }
      },
    }),
    'pages through everything, each record once, with and without a filter',
  ],
  'starts anew for a cursor that it does not know': [
    (store) => ({
      list: (owner, filter, limit, cursor) =>
        store.list(owner, filter, limit, cursor).catch(() => store.list(owner, filter, limit)),
    }),
    'refuses a cursor that it did not make',
  ],
  'takes a name from anybody': [
    (store) => ({
      claim: async (owner, name, taskId) => {
        const holder = await store.claim(owner, name, taskId)
        return holder === taskId ? taskId : store.claim(owner, name, taskId, holder)
      },
    }),
    'lets a name be taken over from the holder that is named, and from no other',
  ],
  'reads a name, waits, then takes it': [
    (store) => ({
      claim: async (owner, name, taskId, holder) => {
        const present = await store.claim(owner, name, 'no task', undefined)
        if (present !== undefined && present !== holder) return present
        await store.claim(owner, name, taskId, holder)
        return taskId
      },
    }),
    'gives a contested name to one task, and each takeover to one',
  ],
  'keeps names for ever': [
    (store) => {
      const names = new Map<string, string>()
      return {
        claim: async (owner, name, taskId, holder) => {
          const key = JSON.stringify([owner, name])
          const present = names.get(key)
          if ((present ?? holder) !== holder || !(await store.get({ owner, taskId }))) return present
          names.set(key, taskId)
          return taskId
        },
      }
    },
    'frees the names of a record that is deleted, and not for the next record under its id',
  ],
  'finds one task of a run': [
    (store) => ({ byRun: async (query) => (await store.byRun(query)).slice(0, 1) }),
    'finds several tasks, of several owners, attempts and states',
  ],
  'takes a run key for a run id': [
    (store) => ({
      byRun: (query) => store.byRun('runId' in query && query.runId === 'rb-1' ? { runKey: 'rb-1' } : query),
    }),
    'finds nothing for a run that nobody follows',
  ],
  'removes at the moment of expiry': [
    (store) => ({ sweep: (now, limit) => store.sweep(now + 1, limit) }),
    'removes a record once its retention after the recorded end lies before now',
  ],
  'remembers the latest time': [
    (store) => {
      let latest = 0
      return {
        sweep: (now, limit) => {
          latest = Math.max(latest, now)
          return store.sweep(latest, limit)
        },
      }
    },
    'remembers nothing of a clock that jumps forth and back',
  ],
  'sweeps without a limit': [
    (store) => ({ sweep: (now) => store.sweep(now, 1000) }),
    'removes at most the limit in one sweep, and all in several',
  ],
  'names what is due in the order of creation': [
    (store) => ({
      sweep: async (now, limit) => {
        const { removed, due } = await store.sweep(now, 1000)
        return { removed, due: [...due].sort((a, b) => a.createdAt - b.createdAt).slice(-limit) }
      },
    }),
    'names at most the limit of due ones, first those that wait longest for a look',
  ],
  'names only starts': [
    (store) => ({
      sweep: async (now, limit) => {
        const { removed, due } = await store.sweep(now, limit)
        return { removed, due: due.filter((record) => record.state === 'starting') }
      },
    }),
    'names an unsent wish to cancel while the run may go on',
  ],
  'keeps the object that it was given': [
    (store) => {
      const given = new Map<string, TaskRecord>()
      return {
        create: async (record) => {
          given.set(record.taskId, record)
          return store.create(record)
        },
        get: async (key) => (await store.get(key)) && given.get(key.taskId),
      }
    },
    'shares no object with its callers',
  ],
  'cuts what is large': [
    (store) => ({
      update: (record) =>
        store.update(
          JSON.stringify(record).length > 100_000 ? { ...record, snapshot: undefined as never } : record,
        ),
    }),
    'keeps a snapshot with as much output as an engine gives',
  ],
  'reopens itself': [
    () => {
      let store = memory()
      return {
        create: (record) => store.create(record),
        close: async () => {
          store = memory()
        },
      }
    },
    'is unavailable once it is closed',
  ],
}

describe('storeSuite', () => {
  it('passes a sound store', async () => {
    expect(await failures(() => ({}))).toEqual([])
  })

  it.each(Object.entries(DEFECTS))('fails a store that %s', async (_, [broken, test]) => {
    expect(await failures(broken)).toContain(test)
  })

  it('finds by random operations what no single test looks for', async () => {
    // The third update of a record loses its wish to cancel.
    const broken = (store: TaskStore): Partial<TaskStore> => ({
      update: (record) => {
        if (record.version < 3) return store.update(record)
        const { cancel: _, ...rest } = record
        return store.update(rest)
      },
    })
    expect(await failures(broken)).toEqual(['agree with a map in memory'])
  })
})
