import {
  isTerminal,
  type Owner,
  RUN_STATES,
  type TaskFilter,
  type TaskPage,
  type TaskRecord,
} from '@runbridge/core'
import { decodeCursor, encodeCursor } from '../common/cursor.js'
import type { tableAccess } from './access.js'
import type { Item } from './client.js'
import { LIST_START, listAt, listPartition, listSince, taskKeyOf } from './item.js'
import { LIST_INDEX } from './table.js'

type Part = 'open' | 'ended'

/** How many keys are read ahead of the records at least. */
const MIN_KEYS = 20
const MAX_KEYS = 100

/** The keys come from the index and may lag behind by a moment; the records are read for themselves. */
export async function listRecords(
  { query, records }: ReturnType<typeof tableAccess>,
  owner: Owner,
  { tool, states = RUN_STATES, since }: TaskFilter,
  limit: number,
  cursor?: string,
): Promise<TaskPage> {
  const before = cursor === undefined ? LIST_START : listAt(decodeCursor(cursor))
  const size = Math.min(MAX_KEYS, Math.max(MIN_KEYS, limit + 1))
  const parts: Part[] = []
  if (states.some((state) => !isTerminal(state))) parts.push('open')
  if (states.some(isTerminal)) parts.push('ended')

  const keysOf = (part: Part) =>
    query({
      IndexName: LIST_INDEX,
      KeyConditionExpression: '#list = :list and #at between :since and :before',
      ExpressionAttributeNames: { '#list': 'list', '#at': 'listAt' },
      ExpressionAttributeValues: {
        ':list': { S: listPartition(owner, part) },
        ':since': { S: listSince(since) },
        ':before': { S: before },
      },
      ScanIndexForward: false,
      Limit: size,
    })

  const page: TaskRecord[] = []
  const seen = new Set<string>()
  const keys = newestFirst(parts.map(keysOf))
  for (let more = true; more && page.length <= limit; ) {
    const batch: Item[] = []
    while (batch.length < size) {
      const { value, done } = await keys.next()
      if (done) {
        more = false
        break
      }
      // A task that ends meanwhile may stand in both parts; the place of the cursor was shown before.
      const id = value.pk?.S ?? ''
      if (value.listAt?.S !== before && !seen.has(id)) batch.push(value)
      seen.add(id)
    }
    for (const record of await records(batch.map(taskKeyOf))) {
      if (states.includes(record.state) && (tool === undefined || record.tool === tool)) page.push(record)
    }
  }
  const shown = page.slice(0, limit)
  const last = shown.at(-1)
  return page.length > limit && last ? { records: shown, next: encodeCursor(last) } : { records: shown }
}

/** Merges lists that are in order each. */
async function* newestFirst(lists: readonly AsyncGenerator<Item>[]): AsyncGenerator<Item, undefined> {
  const heads = await Promise.all(lists.map((list) => list.next()))
  for (;;) {
    let first = -1
    for (const [index, head] of heads.entries()) {
      if (head.done) continue
      const best = heads[first]
      if (!best || best.done || (head.value.listAt?.S ?? '') > (best.value.listAt?.S ?? '')) first = index
    }
    const head = heads[first]
    const list = lists[first]
    if (!head || head.done || !list) return undefined
    yield head.value
    heads[first] = await list.next()
  }
}
