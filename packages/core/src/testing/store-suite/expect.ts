import assert from 'node:assert/strict'
import { type ErrorCode, RunbridgeError } from '../../errors.js'
import type { TaskFilter, TaskStore } from '../../store.js'
import type { Owner, TaskRecord } from '../../task.js'

/** The value as JSON has it: without members that are undefined. */
export function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

export async function rejectsWith(code: ErrorCode, act: () => Promise<unknown>): Promise<void> {
  await assert.rejects(act, (thrown) => {
    assert.ok(thrown instanceof RunbridgeError, `expected a RunbridgeError, got ${String(thrown)}`)
    assert.equal(thrown.code, code)
    return true
  })
}

/** All pages one after the other; `between` runs before each page but the first. */
export async function readPages(
  store: TaskStore,
  owner: Owner,
  filter: TaskFilter,
  limit: number,
  between?: (page: number) => Promise<void>,
): Promise<TaskRecord[]> {
  const records: TaskRecord[] = []
  let cursor: string | undefined
  for (let page = 0; page < 1000; page++) {
    if (page > 0) await between?.(page)
    const { records: more, next } = await store.list(owner, filter, limit, cursor)
    assert.ok(more.length <= limit, `a page of ${more.length} for a limit of ${limit}`)
    records.push(...more)
    if (next === undefined) return records
    cursor = next
  }
  throw new Error('the pages have no end')
}

export function ids(records: readonly TaskRecord[]): string[] {
  return records.map((record) => record.taskId)
}
