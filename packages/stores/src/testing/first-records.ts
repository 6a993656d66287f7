import type { TaskRecord, TaskStore } from '@runbridge/core'
import { expect } from 'vitest'

/** What the fixtures of version 1 hold, whichever store they are of. Gives the records back, newest first. */
export async function expectFirstRecords(store: TaskStore): Promise<readonly TaskRecord[]> {
  expect(await store.get({ owner: 'local', taskId: 'tsk_a' })).toMatchObject({
    version: 3,
    runKey: 'rb-1',
    createdAt: 10,
    cancel: { reason: "it's enough", requestedAt: 30 },
  })
  const { records } = await store.list('local', {}, 10)
  expect(records.map((record) => record.taskId)).toEqual(['tsk_b', 'tsk_a'])
  expect(records[0]?.snapshot?.output).toMatchObject({ ok: 'grün' })
  expect(await store.byRun({ runId: 'run-2' })).toHaveLength(1)
  return records
}
