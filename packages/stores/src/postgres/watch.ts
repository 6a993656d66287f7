import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { byteLength, type Log, type TaskKey } from '@runbridge/core'
import type { PostgresClient, PostgresPool } from './pool.js'

/** NOTIFY takes less than 8000 bytes (postgresql.org/docs/current/sql-notify.html). */
const MAX_PAYLOAD_BYTES = 7_999

export interface WatchOptions {
  readonly pool: PostgresPool
  readonly channel: string
  /** How often watchers look where LISTEN brings nothing, in ms. */
  readonly pollMs: number
  /** How often a listening connection has to show that it hears, in ms, and how long it may take for that. */
  readonly pingMs: number
  readonly pongMs: number
  readonly log?: Log | undefined
}

type OnChange = (key?: TaskKey) => void

export interface Watching {
  /** What a write sends along as its notification. */
  payload(key: TaskKey): string
  watch(onChange: OnChange): () => void
  close(): Promise<void>
}

/**
 * Tells watchers of the changes that other processes made. One connection listens, from the first watcher on. It is
 * believed only while it hears its own pings: through a pooler that changes connections between transactions,
 * LISTEN succeeds and nothing ever comes. Without it, watchers are told to look again at short intervals.
 */
export function createWatching(options: WatchOptions): Watching {
  const { pollMs, log } = options
  const self = randomUUID()
  const watchers = new Set<OnChange>()
  const closing = new AbortController()
  const { signal } = closing
  let running: Promise<void> | undefined

  const tell: OnChange = (key) => {
    for (const watcher of [...watchers]) watcher(key)
  }

  async function run(): Promise<void> {
    let silent = false
    while (!signal.aborted) {
      const heard = await listen(options, self, tell, signal).catch(() => false)
      if (signal.aborted) return
      if (!heard && !silent)
        log?.warn({ pollMs }, 'no notifications come from the database; it is asked instead')
      silent = !heard
      const until = performance.now() + (heard ? 0 : options.pingMs)
      do {
        tell()
        await delay(pollMs, undefined, { signal, ref: false }).catch(() => undefined)
      } while (!signal.aborted && performance.now() < until)
    }
  }

  return {
    payload({ owner, taskId }) {
      const whole = JSON.stringify([self, owner, taskId])
      return byteLength(whole) <= MAX_PAYLOAD_BYTES ? whole : JSON.stringify([self])
    },
    watch(onChange) {
      // A function of its own, so that the same one can watch twice.
      const watcher: OnChange = (key) => onChange(key)
      watchers.add(watcher)
      running ??= run()
      return () => watchers.delete(watcher)
    },
    async close() {
      closing.abort()
      await running
    },
  }
}

/**
 * Listens until the connection is lost, hears nothing of a ping, or the watching ends. Resolves to whether it heard
 * at all. What was missed before it listened is made good by one look at everything.
 */
async function listen(
  { pool, channel, pingMs, pongMs, log }: WatchOptions,
  self: string,
  tell: OnChange,
  signal: AbortSignal,
): Promise<boolean> {
  const client = await pool.connect()
  const lost = new AbortController()
  let pong: (() => void) | undefined
  let heard = false
  client.on('error', () => lost.abort())
  client.on('end', () => lost.abort())
  client.on('notification', ({ payload = '' }) => {
    const [origin, owner, taskId] = parsed(payload)
    if (origin === `ping ${self}`) pong?.()
    else if (origin !== self)
      tell(owner === undefined || taskId === undefined ? undefined : { owner, taskId })
  })
  const over = AbortSignal.any([signal, lost.signal])
  try {
    await client.query(`listen "${channel}"`)
    while (!over.aborted) {
      const answered = new Promise<true>((resolve) => {
        pong = () => resolve(true)
      })
      await pool.query('select pg_notify($1, $2)', [channel, JSON.stringify([`ping ${self}`])])
      if (!(await Promise.race([answered, waited(pongMs, over).then(() => false)]))) return heard
      if (!heard) {
        log?.info({}, 'listens to the database for changes that other processes make')
        tell()
      }
      heard = true
      await waited(pingMs, over)
    }
    return heard
  } finally {
    end(client)
  }
}

/** Never back into the pool: a connection that listens is of no use to others. */
function end(client: PostgresClient): void {
  client.release(true)
}

async function waited(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined)
}

function parsed(payload: string): (string | undefined)[] {
  try {
    const value: unknown = JSON.parse(payload)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
