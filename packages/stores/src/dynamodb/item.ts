import { deflateRawSync, inflateRawSync } from 'node:zlib'
import {
  byteLength,
  cutText,
  dueAfter,
  expiresAt,
  IDLE_MS,
  isTerminal,
  type Owner,
  RunbridgeError,
  type Snapshot,
  type TaskKey,
  type TaskRecord,
} from '@runbridge/core'
import type { Position } from '../common/cursor.js'
import { column, fromColumn } from '../common/row.js'
import type { Attributes, Item } from './client.js'

/** The shape of the items. Raised when an older Runbridge could not read them. */
export const ITEM_VERSION = 1

/**
 * Larger records are kept compressed: writes are paid by the kilobyte, and a record with the long names of an engine fits into
 * one only so, beside the half kilobyte of attributes that an item has anyway.
 */
const PACK_ABOVE_BYTES = 512
/** An item has at most 400 KB (409,600 bytes), names and keys included. */
const MAX_BODY_BYTES = 380_000
const CUT_DETAIL_BYTES = 50_000

const text = (S: string) => ({ S })
const number = (N: number) => ({ N: String(N) })

export const recordKey = ({ owner, taskId }: TaskKey) => ({
  pk: text(`task#${JSON.stringify([owner, taskId])}`),
  sk: text('record'),
})

export function taskKeyOf(item: Item): TaskKey {
  const [owner, taskId] = JSON.parse((item.pk?.S ?? '').slice('task#'.length)) as [Owner, string]
  return { owner, taskId }
}

/** Under the run, who follows it. */
export const runKeyPartition = (runKey: string) => `key#${column(runKey)}`
export const runIdPartition = (runId: string) => `run#${column(runId)}`
export const pointerKey = (partition: string, key: TaskKey) => ({
  pk: text(partition),
  sk: text(JSON.stringify([key.owner, key.taskId])),
})
export function pointedAt(item: Item): TaskKey {
  const [owner, taskId] = JSON.parse(item.sk?.S ?? '') as [Owner, string]
  return { owner, taskId }
}

export const nameKey = (owner: Owner, name: string) => ({
  pk: text(`name#${JSON.stringify([owner, name])}`),
  sk: text('name'),
})
export const secretKey = (name: string) => ({ pk: text(`secret#${column(name)}`), sk: text('secret') })
export const sessionKey = (id: string) => ({ pk: text(`session#${column(id)}`), sk: text('session') })
/** Sessions in the sweeper's index, by when they were last used. */
export const SESSION_DUE = 'session'
export const SCHEMA_KEY = { pk: text('schema'), sk: text('schema') }

/** Open tasks apart from ended ones, so that what is open is found without reading all that has been. */
export const listPartition = (owner: Owner, part: 'open' | 'ended') => `${part}#${column(owner)}`

const MAX_TIME = 8_640_000_000_000_000

function padded(time: number): string {
  const whole = Math.min(Math.max(Math.ceil(time), 0), MAX_TIME)
  return String(whole).padStart(16, '0')
}

/** A place in the order of lists: by creation, then by task id. */
export const listAt = ({ createdAt, taskId }: Position) => `${padded(createdAt)}#${column(taskId)}`
export const LIST_START = '~'
export const listSince = (since: number | undefined) => (since === undefined ? '0' : padded(since))

/** After this nobody can want the record, however its run went: for what DynamoDB removes by itself. */
function ceiling({ createdAt, retainMs }: TaskRecord, maxAgeMs: number): number {
  return createdAt + maxAgeMs + retainMs
}

function ttl(record: TaskRecord, maxAgeMs: number): { N: string } {
  const end = expiresAt(record) ?? ceiling(record, maxAgeMs)
  return number(Math.ceil(Math.max(end, record.createdAt) / 1000))
}

/** Of what points at the record: longer than it itself. */
export function pointerTtl(record: TaskRecord, maxAgeMs: number): { N: string } {
  return number(Math.ceil(ceiling(record, maxAgeMs) / 1000) + 1)
}

/** What only creation writes. */
export function fixedAttributes(record: TaskRecord): Attributes {
  return {
    runKey: text(column(record.runKey)),
    createdAt: number(record.createdAt),
    listAt: text(listAt(record)),
  }
}

/**
 * By which the sweeper orders what is due, in the index. Of a run that is followed it moves with `due` alone, so that a look
 * writes nothing there.
 */
function sweptAs({ refreshAfter }: TaskRecord, due: number | undefined): number {
  return due !== undefined && due >= refreshAfter + IDLE_MS ? due - IDLE_MS : refreshAfter
}

/** What an update may change; `undefined` for what the record has not. */
export function changingAttributes(
  record: TaskRecord,
  maxAgeMs: number,
): Readonly<Record<string, Attributes[string] | undefined>> {
  const expires = expiresAt(record)
  const due = expires ?? dueAfter(record)
  return {
    list: text(listPartition(record.owner, isTerminal(record.state) ? 'ended' : 'open')),
    due: due === undefined ? undefined : text(expires === undefined ? 'due' : 'expires'),
    dueAt: due === undefined ? undefined : number(due),
    refreshAfter: number(sweptAs(record, due)),
    runId: record.run === undefined ? undefined : text(column(record.run.id)),
    ttl: ttl(record, maxAgeMs),
    itemVersion: number(ITEM_VERSION),
    ...body(record),
  }
}

/** The record as JSON, compressed where it is larger. One that is too large even so loses its output, with a mark. */
function body(record: TaskRecord): {
  plain: Attributes[string] | undefined
  packed: Attributes[string] | undefined
} {
  const { owner, taskId, version, runKey, createdAt, ...rest } = record
  const json = JSON.stringify(rest)
  if (byteLength(json) <= PACK_ABOVE_BYTES) return { plain: text(json), packed: undefined }
  const packed = deflateRawSync(json)
  if (packed.length <= MAX_BODY_BYTES) return { plain: undefined, packed: { B: new Uint8Array(packed) } }
  const smaller = shortened(record.snapshot)
  if (smaller !== undefined) return body({ ...record, snapshot: smaller })
  throw new RunbridgeError('too_large', 'The task store does not take a record of this size.')
}

/** Undefined where nothing can be left out any more. */
function shortened(snapshot: Snapshot | undefined): Snapshot | undefined {
  if (snapshot === undefined) return undefined
  const { output, ...rest } = snapshot
  if (output !== undefined) {
    const bytes = byteLength(JSON.stringify(output))
    const outputOmitted = `The output has ${bytes} bytes, more than one item of the task store holds; read it in the engine.`
    return { ...rest, outputOmitted }
  }
  const { error } = rest
  if (error?.detail === undefined || byteLength(error.detail) <= CUT_DETAIL_BYTES) return undefined
  return { ...rest, error: { ...error, detail: cutText(error.detail, CUT_DETAIL_BYTES, 'tail') } }
}

/** Throws `misconfigured` for an item of a newer Runbridge. */
export function toRecord(item: Item): TaskRecord {
  if (Number(item.itemVersion?.N) > ITEM_VERSION) {
    throw new RunbridgeError(
      'misconfigured',
      'The table of the task store has records of a newer Runbridge. Update this one.',
    )
  }
  const json = item.plain?.S ?? inflateRawSync(item.packed?.B ?? new Uint8Array()).toString()
  return {
    ...(JSON.parse(json) as Omit<TaskRecord, 'owner' | 'taskId' | 'version' | 'runKey' | 'createdAt'>),
    ...taskKeyOf(item),
    version: Number(item.version?.N),
    runKey: fromColumn(item.runKey?.S ?? ''),
    createdAt: Number(item.createdAt?.N),
  }
}
