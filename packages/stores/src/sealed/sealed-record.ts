import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { TaskKey, TaskRecord, WireForm } from '@runbridge/core'

/** What an id says, in this order: names would only make it longer. */
type Told = readonly [
  tool: string,
  workflow: string,
  backend: string,
  form: WireForm,
  /** The run's id and attempt; the key under which it is looked for while there is none. */
  run: readonly [id: string, attempt: number] | string,
  createdAt: number,
  retainMs: number,
  startDeadline: number,
  attached: 0 | 1,
]

/** No id of ours unpacks to more; nothing else is unpacked, since it is authenticated first. */
const MAX_BYTES = 65_536

export function pack(record: TaskRecord): Buffer {
  const { tool, workflow, backend, form, run, runKey, createdAt, retainMs, startDeadline, attached } = record
  const told: Told = [
    tool,
    workflow,
    backend,
    form,
    run === undefined ? runKey : [run.id, run.attempt],
    createdAt,
    retainMs,
    startDeadline,
    attached ? 1 : 0,
  ]
  return deflateRawSync(JSON.stringify(told))
}

/**
 * The record as it was when its id left. Its run has always a look due: nobody remembers the last one. A denial by
 * the engine counts from the creation, since nobody remembers the first one either.
 */
export function unpack(packed: Buffer, { owner, taskId }: TaskKey): TaskRecord {
  const told = JSON.parse(inflateRawSync(packed, { maxOutputLength: MAX_BYTES }).toString()) as Told
  const [tool, workflow, backend, form, run, createdAt, retainMs, startDeadline, attached] = told
  const known = typeof run !== 'string'
  return {
    owner,
    taskId,
    version: 1,
    tool,
    backend,
    workflow,
    form,
    runKey: known ? '' : run,
    inputDigest: '',
    startDeadline,
    idKnown: true,
    state: known ? 'running' : 'starting',
    ...(known && { run: { id: run[0], attempt: run[1] } }),
    ...(attached === 1 && { attached: true }),
    createdAt,
    updatedAt: createdAt,
    retainMs,
    inputs: [],
    absentSince: createdAt,
    refreshAfter: createdAt,
  }
}
