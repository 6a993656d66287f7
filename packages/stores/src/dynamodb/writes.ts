import { randomUUID } from 'node:crypto'
import type { OnlyRecord, TaskKey, TaskRecord } from '@runbridge/core'
import { column } from '../common/row.js'
import type { tableAccess } from './access.js'
import type { Attributes, DynamoDbClient, Item } from './client.js'
import { isRefusedCondition } from './errors.js'
import {
  changingAttributes,
  fixedAttributes,
  pointerKey,
  pointerTtl,
  recordKey,
  runIdPartition,
  runKeyPartition,
} from './item.js'

/** Under which condition an item is put. Default: it is not there. */
export interface Condition {
  readonly expression: string
  readonly values: Attributes
}

/** That it is the item of this record, in its version where one is given. */
export function onlyRecord({ runKey, version }: OnlyRecord): Condition {
  const values = { ':runKey': { S: column(runKey) } }
  return version === undefined
    ? { expression: 'runKey = :runKey', values }
    : {
        expression: 'runKey = :runKey and version = :version',
        values: { ...values, ':version': { N: String(version) } },
      }
}

/** Whether the condition held. */
async function held(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (thrown) {
    if (isRefusedCondition(thrown)) return false
    throw thrown
  }
}

/**
 * What the store writes to one table. Each write carries a nonce: the client sends a write again whose answer was
 * lost, and its condition then fails on what it wrote itself.
 */
export function tableWrites(
  client: DynamoDbClient,
  table: string,
  { read }: ReturnType<typeof tableAccess>,
  maxRunMs: number,
) {
  /** @param nonce the attribute that holds the nonce */
  async function put<N extends string>(
    key: Attributes,
    item: Attributes & Record<N, { S: string }>,
    nonce: N,
    condition?: Condition,
  ): Promise<boolean> {
    const putting = client.putItem({
      TableName: table,
      Item: { ...key, ...item },
      ConditionExpression: condition?.expression ?? 'attribute_not_exists(pk)',
      ...(condition && { ExpressionAttributeValues: condition.values }),
    })
    return (await held(putting)) || (await read(key))?.[nonce]?.S === item[nonce].S
  }

  const point = (partition: string, record: TaskRecord) =>
    client.putItem({
      TableName: table,
      Item: { ...pointerKey(partition, record), ttl: pointerTtl(record, maxRunMs) },
    })

  /** What pointed at a record that is gone. Left behind, it would only wait for its time to live. */
  async function unpoint(key: TaskKey, { runKey, runId }: Item): Promise<void> {
    const partitions = [`key#${runKey?.S}`, ...(runId === undefined ? [] : [`run#${runId.S}`])]
    await Promise.allSettled(
      partitions.map((partition) =>
        client.deleteItem({ TableName: table, Key: pointerKey(partition, key), ReturnValues: 'ALL_OLD' }),
      ),
    )
  }

  /** What was there, if it was and the condition held. */
  async function take(key: Attributes, condition?: Condition): Promise<Item | undefined> {
    let gone: Item | undefined
    const taking = client
      .deleteItem({
        TableName: table,
        Key: key,
        ReturnValues: 'ALL_OLD',
        ...(condition && {
          ConditionExpression: condition.expression,
          ExpressionAttributeValues: condition.values,
        }),
      })
      .then(({ Attributes }) => {
        gone = Attributes
      })
    return (await held(taking)) ? gone : undefined
  }

  async function remove(key: TaskKey, condition?: Condition): Promise<boolean> {
    const gone = await take(recordKey(key), condition)
    if (gone === undefined) return false
    await unpoint(key, gone)
    return true
  }

  async function write(record: TaskRecord, written: string, sameRun: boolean): Promise<boolean> {
    const changing = { ...changingAttributes(record, maxRunMs), written: { S: written } }
    const names: Record<string, string> = { '#version': 'version', '#runKey': 'runKey', '#runId': 'runId' }
    const values: Attributes = {
      ':present': { N: String(record.version) },
      ':runKey': { S: column(record.runKey) },
      ':one': { N: '1' },
    }
    const set = ['#version = #version + :one']
    const removed: string[] = []
    for (const [name, value] of Object.entries(changing)) {
      names[`#${name}`] = name
      if (value === undefined) removed.push(`#${name}`)
      else {
        values[`:${name}`] = value
        set.push(`#${name} = :${name}`)
      }
    }
    const run = record.run === undefined ? 'attribute_not_exists(#runId)' : '#runId = :runId'
    if (!sameRun && record.run !== undefined) await point(runIdPartition(record.run.id), record)
    return held(
      client.updateItem({
        TableName: table,
        Key: recordKey(record),
        UpdateExpression: `set ${set.join(', ')}${removed.length > 0 ? ` remove ${removed.join(', ')}` : ''}`,
        ConditionExpression: `#runKey = :runKey and #version = :present${sameRun ? ` and ${run}` : ''}`,
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: values,
      }),
    )
  }

  async function create(record: TaskRecord): Promise<boolean> {
    const nonce = { S: randomUUID() }
    const changing = Object.entries(changingAttributes(record, maxRunMs)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    )
    const item = {
      ...fixedAttributes(record),
      ...Object.fromEntries(changing),
      version: { N: '1' },
      born: nonce,
      written: nonce,
    }
    await point(runKeyPartition(record.runKey), record)
    if (record.run !== undefined) await point(runIdPartition(record.run.id), record)
    return put(recordKey(record), item, 'born')
  }

  async function update(record: TaskRecord): Promise<'updated' | 'conflict' | 'missing'> {
    const written = randomUUID()
    // Which run it follows changes once in a record's life: only then its pointer has to be written.
    for (const sameRun of [true, false]) {
      if (await write(record, written, sameRun)) return 'updated'
      const present = await read(recordKey(record))
      if (present === undefined) return 'missing'
      if (present.written?.S === written) return 'updated'
      const { runKey, version } = present
      if (runKey?.S !== column(record.runKey) || Number(version?.N) !== record.version) return 'conflict'
    }
    return 'conflict'
  }

  return { put, create, update, remove, take }
}
