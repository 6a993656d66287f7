import { dueAfter, type SweepResult, type TaskKey, type TaskRecord } from '@runbridge/core'
import type { tableAccess } from './access.js'
import { taskKeyOf } from './item.js'
import { DUE_INDEX } from './table.js'
import type { tableWrites } from './writes.js'

export async function sweepRecords(
  { query, records }: ReturnType<typeof tableAccess>,
  { remove }: ReturnType<typeof tableWrites>,
  now: number,
  limit: number,
): Promise<SweepResult> {
  /** Expired records are removed one by one, each by whoever comes first. */
  async function removeExpired(): Promise<number> {
    let removed = 0
    for await (const item of query(dueBefore('expires', now, Math.min(limit, 100)))) {
      const condition = {
        expression: 'due = :due and dueAt < :now',
        values: { ':due': { S: 'expires' }, ':now': { N: String(now) } },
      }
      if (await remove(taskKeyOf(item), condition)) removed += 1
      if (removed === limit) break
    }
    return removed
  }

  async function dueRecords(): Promise<TaskRecord[]> {
    // All of them, since their order is not the index's. Their keys are small.
    const waiting: { key: TaskKey; refreshAfter: number }[] = []
    for await (const item of query(dueBefore('due', now))) {
      waiting.push({ key: taskKeyOf(item), refreshAfter: Number(item.refreshAfter?.N) })
    }
    waiting.sort((a, b) => a.refreshAfter - b.refreshAfter)
    const due: TaskRecord[] = []
    for (let from = 0; from < waiting.length && due.length < limit; from += limit) {
      const found = await records(waiting.slice(from, from + limit).map(({ key }) => key))
      due.push(...found.filter((record) => (dueAfter(record) ?? now) < now))
    }
    return due.slice(0, limit)
  }

  return { removed: await removeExpired(), due: await dueRecords() }
}

function dueBefore(kind: 'due' | 'expires', now: number, limit?: number) {
  return {
    IndexName: DUE_INDEX,
    KeyConditionExpression: '#due = :due and #at < :now',
    ExpressionAttributeNames: { '#due': 'due', '#at': 'dueAt' },
    ExpressionAttributeValues: { ':due': { S: kind }, ':now': { N: String(now) } },
    ...(limit !== undefined && { Limit: limit }),
  }
}
