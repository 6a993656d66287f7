import { createHash, randomBytes } from 'node:crypto'
import { canonicalJson, type Json } from './json.js'

/** Where ids come from: injected, so that tests can name them. */
export interface Ids {
  /** A task id: at least 128 random bits, unguessable (ext-tasks, "Task ID unguessability"). */
  taskId(): string
  /** A run key: fits execution names, label values and run names, `[a-z0-9-]`, at most 63 characters. */
  runKey(): string
}

/** @param runKeyPrefix lowercase, starts with a letter; lets events of our runs be told from others. */
export function randomIds(runKeyPrefix = 'rb-'): Ids {
  return {
    taskId: () => `tsk_${randomBytes(18).toString('base64url')}`,
    runKey: () => `${runKeyPrefix}${randomBytes(16).toString('hex')}`,
  }
}

/** SHA-256 over canonical JSON, in base64url: equal values have equal digests. */
export function digest(value: Json): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url')
}
