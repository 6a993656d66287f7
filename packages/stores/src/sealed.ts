import {
  byteLength,
  MAX_TASK_ID,
  RunbridgeError,
  type SecretStore,
  type StoreCapability,
  type TaskRecord,
  type TaskStore,
} from '@runbridge/core'
import { checkLimit } from './common/cursor.js'
import { column } from './common/row.js'
import { keyRing, OVERHEAD_BYTES } from './sealed/key-ring.js'
import { pack, unpack } from './sealed/sealed-record.js'

export interface SealedOptions {
  /**
   * Random texts of at least 32 characters. The first one seals, each opens: to rotate, add the new key at the end
   * everywhere, then put it first, and take the old one out after `maxAgeMs`.
   */
  readonly keys: readonly string[]
  /**
   * How long after its creation a task is known, in ms: at least the longest run and its retention. Default
   * 400 days: a year is the longest that an engine allows.
   */
  readonly maxAgeMs?: number
  /** ms since the epoch. Default: the system's clock. */
  readonly now?: () => number
}

const PREFIX = 'tsk_'
/** Room for the id of any engine's run: a Step Functions ARN has at most 256 characters or so. */
const RUN_ID_ROOM_BYTES = 300
const MAX_PACKED_BYTES = Math.floor(((MAX_TASK_ID - PREFIX.length) * 3) / 4) - OVERHEAD_BYTES

const NOTHING_KEPT = 'the sealed store keeps no records: a task’s id is all that there is of it'
const LACKS: Readonly<Record<StoreCapability, string>> = {
  list: NOTHING_KEPT,
  delete: `${NOTHING_KEPT}, and can’t be taken back`,
  claim: NOTHING_KEPT,
  byRun: NOTHING_KEPT,
  update: NOTHING_KEPT,
}

/**
 * No records at all: the id of a task is its record, encrypted and authenticated, and whoever has the key can answer.
 * Only its owner can use it. A process that dies between the start of a run and its answer orphans the run: it goes
 * on in the engine, and no client ever learns its id.
 */
export function sealed({
  keys,
  maxAgeMs = 400 * 86_400_000,
  now = Date.now,
}: SealedOptions): TaskStore & SecretStore {
  const ring = keyRing(keys)
  let open = true

  const whileOpen = () => {
    if (!open) throw new RunbridgeError('unavailable', 'The task store is closed.')
  }
  const unable = async (capability: StoreCapability): Promise<never> => {
    whileOpen()
    throw new RunbridgeError('unsupported', `This can’t be done here: ${LACKS[capability]}.`)
  }
  /** Of the owner as it is: texts that UTF-8 makes equal stay apart. */
  const context = (owner: string) => `task ${column(owner)}`

  function idOf(record: TaskRecord): string {
    const id = PREFIX + ring.seal(pack(record), context(record.owner)).toString('base64url')
    if (id.length <= MAX_TASK_ID) return id
    throw new RunbridgeError(
      'too_large',
      `A sealed task id has at most ${MAX_TASK_ID} characters, and this one would have ${id.length}: the run’s id is too long.`,
    )
  }

  return {
    lacks: LACKS,
    idOf,

    /** Keeps nothing. Refuses before the start what could not be sealed after it. */
    async create(record) {
      whileOpen()
      const { tool, workflow } = record
      const most = pack({ ...record, tool: '', workflow: '', run: { id: '', attempt: 0 } }).length
      if (most + byteLength(JSON.stringify([tool, workflow])) + RUN_ID_ROOM_BYTES <= MAX_PACKED_BYTES)
        return 'created'
      throw new RunbridgeError(
        'too_large',
        `The names of tool ${tool} and its workflow are too long for a sealed task id. Nothing was started; give the tool a shorter name.`,
      )
    },

    async get({ owner, taskId }) {
      whileOpen()
      if (!taskId.startsWith(PREFIX) || taskId.length > MAX_TASK_ID) return undefined
      const text = taskId.slice(PREFIX.length)
      const bytes = Buffer.from(text, 'base64url')
      // Buffer skips what is not base64url: each task has one text.
      const plain = bytes.toString('base64url') === text ? ring.open(bytes, context(owner)) : undefined
      const record = plain && unpack(plain, { owner, taskId })
      return record && record.createdAt + maxAgeMs >= now() ? record : undefined
    },

    async update() {
      whileOpen()
      return 'updated'
    },

    async delete() {
      whileOpen()
      return false
    },

    async list(_owner, _filter, limit) {
      checkLimit(limit)
      return unable('list')
    },
    claim: () => unable('claim'),
    byRun: () => unable('byRun'),

    async sweep() {
      whileOpen()
      return { removed: 0, due: [] }
    },

    async secret(name) {
      whileOpen()
      return ring.derive(`secret ${column(name)}`)
    },

    async close() {
      open = false
    },
  }
}
