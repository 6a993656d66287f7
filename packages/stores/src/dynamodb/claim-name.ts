import { randomUUID } from 'node:crypto'
import { type Owner, RunbridgeError } from '@runbridge/core'
import { column, fromColumn } from '../common/row.js'
import type { tableAccess } from './access.js'
import type { Item } from './client.js'
import { nameKey, pointerTtl, recordKey, toRecord } from './item.js'
import type { tableWrites } from './writes.js'

/** How often a claim looks again after others changed the name between its look and its write. */
const TRIES = 10

export interface Claim {
  readonly owner: Owner
  readonly name: string
  readonly taskId: string
  readonly holder: string | undefined
}

/** `TaskStore.claim`: a name belongs to the record that it was given to, told by the nonce of the record's creation. */
export async function claimName(
  { read }: ReturnType<typeof tableAccess>,
  { put }: ReturnType<typeof tableWrites>,
  { owner, name, taskId, holder }: Claim,
  maxRunMs: number,
): Promise<string | undefined> {
  const key = nameKey(owner, name)
  for (let tries = 0; tries < TRIES; tries += 1) {
    const item = await read(key)
    const present = await holderOf(owner, item)
    if (present !== undefined && present !== holder) return present
    const record = await read(recordKey({ owner, taskId }))
    if (record === undefined) return present
    const claimed = {
      taskId: { S: column(taskId) },
      of: { S: record.born?.S ?? '' },
      written: { S: randomUUID() },
      ttl: pointerTtl(toRecord(record), maxRunMs),
    }
    const unchanged = item && {
      expression: 'written = :written',
      values: { ':written': { S: item.written?.S ?? '' } },
    }
    if (await put(key, claimed, 'written', unchanged)) return taskId
  }
  throw new RunbridgeError('unavailable', 'The task store had too many changes of one name. Try again.')

  /** Undefined once the record that the name was given to is gone. */
  async function holderOf(owner: Owner, item: Item | undefined): Promise<string | undefined> {
    if (item === undefined) return undefined
    const taskId = fromColumn(item.taskId?.S ?? '')
    const record = await read(recordKey({ owner, taskId }))
    return record?.born?.S === item.of?.S ? taskId : undefined
  }
}
