import { clockOf } from '../clock.js'
import { RunbridgeError } from '../errors.js'
import { randomIds } from '../ids.js'
import { isTerminal } from '../run.js'
import { isExpired, isStarting, type TaskKey, type TaskRecord } from '../task.js'
import { answer } from './answer.js'
import { attach } from './attach.js'
import { cancel, seal, sendWish } from './cancel.js'
import { createContext, notFound, type ServiceOptions } from './context.js'
import { create } from './create.js'
import { createRefresh } from './refresh.js'
import { settle } from './settle.js'
import type { Task, TaskService } from './task-service.js'
import { waitFor } from './wait.js'

/** How many records of each kind one sweep handles, so that it stays short. */
const SWEEP_LIMIT = 100

export function createTaskService(options: ServiceOptions): TaskService {
  const context = createContext({ clock: clockOf(options.store), ids: randomIds(), ...options })
  const { store, clock, view } = context
  const refresh = createRefresh(context, options.tools)
  const underWay = new Set<Promise<unknown>>()

  /** Counts the work, so that `drain` can wait for it. */
  function track<T>(work: Promise<T>): Promise<T> {
    underWay.add(work)
    const done = () => void underWay.delete(work)
    work.then(done, done)
    return work
  }

  /** Brings a record up to date: settles its start or reads its run, whichever is due. */
  async function follow(record: TaskRecord): Promise<TaskRecord> {
    const settled = isStarting(record) ? await settle(context, record) : record
    const current = settled && (await refresh(settled))
    if (!current || isExpired(current, clock.now())) throw notFound()
    return current
  }

  /** What the sweeper does for a record that nobody asks for. */
  async function attend(record: TaskRecord): Promise<TaskRecord | undefined> {
    return isStarting(record) ? settle(context, record) : refresh(await sendWish(context, record))
  }

  async function get(key: TaskKey): Promise<Task> {
    return view(await follow(await context.read(key)))
  }

  return {
    create: (request) => track(create(context, request)),
    attach: (request) => track(attach(context, request)),
    get,
    wait: (key, waitOptions) => waitFor(context, get, key, waitOptions),
    async answer(key, responses) {
      const present = await context.read(key)
      // Which questions are open is in no record where none is kept.
      const asked = store.idOf ? await follow(present) : present
      const { record, outcomes } = await track(answer(context, asked, responses))
      return { task: view(record), outcomes }
    },
    async cancel(key, reason) {
      return view(await track(cancel(context, await context.read(key), reason)))
    },
    async seal(key, reason) {
      return view(await track(seal(context, await context.read(key), reason)))
    },
    async list(owner, filter, { limit, cursor }) {
      const page = await store.list(owner, filter, limit, cursor)
      const now = clock.now()
      const alive = page.records.filter((record) => !isExpired(record, now))
      return { tasks: alive.map(view), ...(page.next !== undefined && { next: page.next }) }
    },
    async delete(key) {
      const record = await context.read(key)
      if (!isTerminal(record.state)) {
        throw new RunbridgeError('conflict', 'Only a task that has ended can be deleted; cancel it first.')
      }
      const reason = store.lacks?.delete
      if (reason !== undefined)
        throw new RunbridgeError('unsupported', `This task can not be deleted: ${reason}.`)
      await store.delete(key, { runKey: record.runKey })
    },
    async hint(query) {
      const records = await store.byRun('run' in query ? { runId: query.run.id } : query)
      for (const record of records) {
        const due = await context.apply(record, { type: 'refresh_due' })
        if (due) await track(refresh(due))
      }
    },
    subscribe: context.subscribe,
    async sweep() {
      const { removed, due } = await store.sweep(clock.now(), SWEEP_LIMIT)
      let settled = 0
      for (const record of due) {
        const after = await track(attend(record))
        if (after?.version !== record.version) settled += 1
      }
      return { removed, settled }
    },
    async drain() {
      await Promise.allSettled(underWay)
    },
  }
}
