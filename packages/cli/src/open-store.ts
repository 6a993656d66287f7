import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Log, SecretStore, TaskStore } from '@runbridge/core'
import type { Config } from './config/schema.js'

/** Opens the store that is configured, and loads the client of its database only then. */
export async function openStore(
  { sqlite, postgres, dynamodb, sealed }: Config['store'],
  log?: Log,
): Promise<TaskStore & SecretStore> {
  if (postgres) {
    const store = await import('@runbridge/stores/postgres')
    return store.postgres({ ...postgres, ...(log && { log }) })
  }
  if (dynamodb) {
    const { endpoint, ...table } = dynamodb
    const store = await import('@runbridge/stores/dynamodb')
    return store.dynamodb({ ...table, ...(endpoint !== undefined && { endpoint }) })
  }
  if (sealed) {
    const { keys, maxAgeMs } = sealed
    const store = await import('@runbridge/stores/sealed')
    return store.sealed({ keys, ...(maxAgeMs !== undefined && { maxAgeMs }) })
  }
  if (sqlite) {
    const { path } = sqlite
    // What is wrong with a folder that can't be made is for the store to say.
    await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(() => undefined)
    return (await import('@runbridge/stores/sqlite')).sqlite({ path })
  }
  return (await import('@runbridge/stores/memory')).memory()
}
