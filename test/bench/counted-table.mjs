// What DynamoDB bills on demand, counted at the client: dynalite keeps the items, and counts no indexes.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations
import { dynamodbTable } from '@runbridge/stores/dynamodb'

/** @typedef {Record<string, { S?: string, N?: string, B?: Uint8Array }>} Item */

const WRITE_BYTES = 1024
const READ_BYTES = 4096
const { KeySchema, GlobalSecondaryIndexes } = dynamodbTable('')
const keysOf = (/** @type {typeof KeySchema} */ schema) => schema.map(({ AttributeName }) => AttributeName)
const TABLE_KEYS = keysOf(KeySchema)
const INDEXES = GlobalSecondaryIndexes.map((index) => {
  const { Projection } = index
  const more = 'NonKeyAttributes' in Projection ? Projection.NonKeyAttributes : []
  const keys = keysOf(index.KeySchema)
  return { keys, projected: [...new Set([...TABLE_KEYS, ...keys, ...more])] }
})

/**
 * A `DynamoDB` whose reads and writes are counted in request units.
 * @param {any} client of `@aws-sdk/client-dynamodb`
 */
export function countedTable(client) {
  const units = { read: 0, write: 0 }
  let largest = 0

  /** @param {any} input @param {Item} key @param {() => Promise<any>} write */
  async function writing({ TableName }, key, write) {
    const Key = Object.fromEntries(TABLE_KEYS.map((name) => [name, key[name]]))
    const stored = async () => (await client.getItem({ TableName, Key, ConsistentRead: true })).Item
    const before = await stored()
    try {
      return await write()
    } finally {
      // A condition that does not hold is billed like the write.
      const after = await stored()
      largest = Math.max(largest, bytesOf(after))
      units.write += Math.max(unitsOf(before, WRITE_BYTES), unitsOf(after, WRITE_BYTES))
      for (const index of INDEXES) units.write += indexUnits(index, before, after)
    }
  }

  return {
    units,
    /** The largest item that was written, in bytes. */
    largest: () => largest,
    client: {
      async getItem(/** @type {any} */ input) {
        const answer = await client.getItem(input)
        units.read += unitsOf(answer.Item, READ_BYTES) * (input.ConsistentRead ? 1 : 0.5)
        return answer
      },
      async batchGetItem(/** @type {any} */ input) {
        const answer = await client.batchGetItem(input)
        for (const [table, { Keys, ConsistentRead }] of Object.entries(
          /** @type {any} */ (input.RequestItems),
        )) {
          const items = answer.Responses?.[table] ?? []
          const found = items.map((/** @type {Item} */ item) => unitsOf(item, READ_BYTES))
          const missing = Keys.length - items.length
          units.read += (sum(found) + missing) * (ConsistentRead ? 1 : 0.5)
        }
        return answer
      },
      async query(/** @type {any} */ input) {
        const answer = await client.query(input)
        const bytes = sum((answer.Items ?? []).map(bytesOf))
        units.read += Math.max(1, Math.ceil(bytes / READ_BYTES)) * (input.ConsistentRead ? 1 : 0.5)
        return answer
      },
      putItem: (/** @type {any} */ input) => writing(input, input.Item, () => client.putItem(input)),
      updateItem: (/** @type {any} */ input) => writing(input, input.Key, () => client.updateItem(input)),
      deleteItem: (/** @type {any} */ input) => writing(input, input.Key, () => client.deleteItem(input)),
    },
  }
}

/**
 * @param {(typeof INDEXES)[number]} index
 * @param {Item | undefined} before
 * @param {Item | undefined} after
 */
function indexUnits({ keys, projected }, before, after) {
  const entryOf = (/** @type {Item | undefined} */ item) =>
    item && keys.every((name) => item[name] !== undefined)
      ? Object.fromEntries(projected.flatMap((name) => (item[name] ? [[name, item[name]]] : [])))
      : undefined
  const [old, made] = [entryOf(before), entryOf(after)]
  const same = (/** @type {readonly string[]} */ names) =>
    names.every((name) => JSON.stringify(old?.[name]) === JSON.stringify(made?.[name]))
  if (same(projected)) return 0
  if (!old || !made) return unitsOf(old ?? made, WRITE_BYTES)
  // An entry whose key changes is deleted and written.
  const written = Math.max(unitsOf(old, WRITE_BYTES), unitsOf(made, WRITE_BYTES))
  return same(keys) ? written : unitsOf(old, WRITE_BYTES) + unitsOf(made, WRITE_BYTES)
}

/** At least one, also for what is not there. @param {Item | undefined} item @param {number} bytes */
function unitsOf(item, bytes) {
  return Math.max(1, Math.ceil(bytesOf(item) / bytes))
}

/** Names and values; a number takes a byte for two digits and one more. @param {Item | undefined} item */
function bytesOf(item = {}) {
  return sum(
    Object.entries(item).map(([name, { S, N, B }]) => {
      const number = N === undefined ? 0 : Math.ceil(N.length / 2) + 1
      return Buffer.byteLength(name) + Buffer.byteLength(S ?? '') + (B?.length ?? 0) + number
    }),
  )
}

/** @param {readonly number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0)
}
