import { setTimeout as pause } from 'node:timers/promises'
import { CLIENTS, FORMS, KINDS, KNOWS } from './clients.mjs'
import { createCluster } from './cluster.mjs'
import { seeded } from './random.mjs'
import { openSession } from './session.mjs'

/** Tasks that their clients follow at one time. */
const AT_ONCE = 60
/** Sessions of each older form. */
const SESSIONS = 8
/** How long the truth may take to show at the end, in ms. A bound, not an expectation. */
const PATIENCE_MS = 120_000
/** How often a replica may need to be asked about a task before it has an answer. */
const LOOKS = 30

/** What an execution's end must have become; a status that is not here is no end. */
const ENDS = /** @type {Record<string, string>} */ ({
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  TIMED_OUT: 'timed_out',
  ABORTED: 'cancelled',
})
/** How a run of each kind has to end. */
const WANTED = { succeeds: 'succeeded', fails: 'failed', asks: 'succeeded', lasts: 'cancelled' }

/**
 * @typedef {object} ReplicasOptions
 * @property {import('../stores.mjs').SharedStore} shared
 * @property {number} tasks
 * @property {number} replicas
 * @property {number} seed
 * @property {boolean} faults whether anything is killed, cut or shown a wrong time
 *
 * @typedef {object} ReplicasVerdict
 * @property {number} kills
 * @property {number} cuts
 * @property {number} executions
 * @property {number} reads of the engine for each run that a client followed to its end
 * @property {number} unstarted tasks whose start came to nothing, and which say so
 * @property {number} duplicate executions of one input beyond the first
 * @property {number} lost executions without a task, tasks and sessions that a replica does not know, and clients without an end
 * @property {number} wrong tasks whose end is not the engine's, and clients that were told another one
 * @property {string[]} details of what is bad
 */

/** @param {ReplicasOptions} options @returns {Promise<ReplicasVerdict>} */
export async function runReplicas({ shared, tasks, replicas, seed, faults }) {
  const random = seeded(seed)
  const cluster = await createCluster({ shared, replicas, random })
  const over = new AbortController()
  /** @type {Awaited<ReturnType<typeof openSession>>[]} */
  const sessions = []
  try {
    await cluster.startAll(faults)
    for (let n = 0; n < 2 * SESSIONS; n += 1) sessions.push(await openSession(cluster.url))
    const chaos = faults ? unrest(cluster, random, replicas, over.signal) : Promise.resolve(0)
    chaos.catch(() => {})
    const ended = await work(cluster.url, tasks, sessions)
    over.abort()
    const cuts = await chaos
    const reads = await readsOfRuns(cluster, ended)
    return { kills: cluster.kills(), cuts, reads, ...(await judge(cluster, ended, sessions)) }
  } finally {
    over.abort()
    for (const session of sessions) session.end()
    await cluster.close()
  }
}

/**
 * Every client does its work, some at a time.
 * @param {string} url
 * @param {number} tasks
 * @param {Awaited<ReturnType<typeof openSession>>[]} sessions
 */
async function work(url, tasks, sessions) {
  let orders = 0
  const queue = Array.from({ length: tasks }, (_, n) => {
    const form = FORMS[n % FORMS.length] ?? 'plain'
    const kind = KINDS[Math.floor(n / FORMS.length) % KINDS.length] ?? 'succeeds'
    const session = sessions[n % sessions.length]
    if (!session) throw new Error('no session')
    return { form, kind, session }
  })
  /** @type {(typeof queue[number] & import('./clients.mjs').Ended)[]} */
  const ended = []
  async function worker() {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { form, kind, session } = next
      const told = await CLIENTS[form]({ url, kind, session, newOrder: () => ++orders })
      ended.push({ ...next, ...told })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return ended
}

/**
 * Kills, cuts and restarts until the signal. Resolves, with how often something was cut, once all replicas are up.
 * @param {Awaited<ReturnType<typeof createCluster>>} cluster
 * @param {ReturnType<typeof seeded>} random
 * @param {number} replicas
 * @param {AbortSignal} signal
 */
async function unrest(cluster, random, replicas, signal) {
  /** @type {Promise<void>[]} */
  const starting = []
  let cuts = 0
  while (!signal.aborted) {
    await pause(random.between(200, 1_200), undefined, { signal }).catch(() => {})
    const n = random.between(0, replicas - 1)
    const what = random.pick(/** @type {const} */ (['kill', 'kill', 'database', 'engine']))
    const ms = random.between(0, 600)
    if (signal.aborted) break
    // Somebody has to be left to do the work.
    if (what === 'kill' && cluster.urls().length > 1) starting.push(cluster.kill(n))
    if (what === 'database') cluster.cutDatabase(n, ms)
    if (what === 'engine') cluster.cutEngine(n, ms)
    cluster.loseStart(random.pick(['dropAfterExecuting', 'dropBeforeExecuting']))
    if (what !== 'kill') cuts += 1
  }
  await Promise.all(starting)
  return cuts
}

/**
 * @param {Awaited<ReturnType<typeof createCluster>>} cluster
 * @param {Awaited<ReturnType<typeof work>>} ended
 */
async function readsOfRuns({ engine, store }, ended) {
  const { byExecution } = engine.calls()
  const handles = new Set(ended.flatMap(({ taskId }) => taskId ?? []))
  const runs = (await all(store)).filter(({ taskId, run }) => run && handles.has(taskId))
  const reads = runs.reduce((sum, { runKey }) => {
    const { DescribeExecution = 0, GetExecutionHistory = 0 } = byExecution[runKey] ?? {}
    return sum + DescribeExecution + GetExecutionHistory
  }, 0)
  return reads / runs.length
}

/**
 * Compares what the clients were told, what the store has and what every replica says with the engine.
 * @param {Awaited<ReturnType<typeof createCluster>>} cluster
 * @param {Awaited<ReturnType<typeof work>>} ended
 * @param {Awaited<ReturnType<typeof openSession>>[]} sessions
 */
async function judge(cluster, ended, sessions) {
  const { engine, store } = cluster
  /** @type {string[]} */
  const details = []
  const bad = (/** @type {string} */ what, /** @type {unknown} */ of) => {
    details.push(`${what}: ${JSON.stringify(of)}`)
    return true
  }
  const count = (/** @type {boolean[]} */ each) => each.filter(Boolean).length

  const executions = engine.executions()
  const known = new Map(executions.map((each) => [each.executionArn, each]))
  const duplicate = executions.length - new Set(executions.map(({ input }) => JSON.parse(input).order)).size
  if (duplicate > 0)
    bad(
      'several executions of one input',
      executions.map(({ input }) => input),
    )

  /** Whether the record says of its run what the engine says. */
  const agrees = (/** @type {import('@runbridge/core').TaskRecord} */ { run, runKey, state, sealed }) => {
    if (!run) {
      const none = !executions.some(({ name }) => name === runKey)
      // `failed`: it was never sent, and its client, who knows the id, is told so.
      return ['lost', 'cancelled', 'failed'].includes(state) && none
    }
    const end = ENDS[known.get(run.id)?.status ?? '']
    if (sealed) return state === 'cancelled' && sealed.runEnd === end
    return end === undefined ? ['running', 'waiting'].includes(state) : state === end
  }

  // Whom nobody asks about any more has to be looked at once.
  const [url = ''] = cluster.urls()
  const deadline = Date.now() + PATIENCE_MS
  let records = await all(store)
  for (; Date.now() < deadline; records = await all(store)) {
    const behind = records.filter((record) => !agrees(record))
    if (behind.length === 0) break
    await inTurns(behind, ({ taskId }) => KNOWS.plain(url, taskId, /** @type {any} */ (undefined)))
    await pause(500)
  }

  const wrongRecords = records.filter((record) => !agrees(record) && bad('a wrong end', record)).length
  const wrongAnswers = ended.filter((each) => {
    const { kind, end } = each
    if (end === WANTED[kind] || end === 'none' || end === 'lost') return false
    // A start that came to nothing is told as unknown; it must be true.
    const record = records.find(({ taskId }) => taskId === each.taskId)
    if (record && !record.run && agrees(record)) return false
    return bad('a client was told another end', { ...each, session: undefined, record })
  }).length

  const followed = new Set(records.flatMap(({ run }) => run?.id ?? []))
  const orphans = executions.filter(({ executionArn }) => !followed.has(executionArn))
  const endless = ended.filter(({ end }) => end === 'none' || end === 'lost')
  for (const orphan of orphans) bad('no task follows', orphan)
  for (const each of endless) bad('a client came to no end', { ...each, session: undefined })
  const unknownSessions = sessions.reduce((sum, session) => sum + session.unknown(), 0)
  if (unknownSessions > 0) bad('sessions were not known', unknownSessions)

  const unanswered = await inTurns(
    ended.flatMap((each) =>
      each.taskId ? cluster.urls().map((to) => ({ ...each, to, taskId: each.taskId ?? '' })) : [],
    ),
    async ({ form, taskId, session, to }) => {
      for (let looks = 0; looks < LOOKS; looks += 1) {
        const answer = await KNOWS[form](to, taskId, session)
        if (answer !== undefined) return !answer && bad('a replica does not know', { form, taskId })
        await pause(200)
      }
      return bad('a replica does not answer', { form, taskId })
    },
  )
  return {
    executions: executions.length,
    unstarted: records.filter(({ run }) => !run).length,
    duplicate,
    lost: orphans.length + endless.length + unknownSessions + count(unanswered),
    wrong: wrongRecords + wrongAnswers,
    details,
  }
}

/** @param {import('@runbridge/core').TaskStore} store */
async function all(store) {
  /** @type {import('@runbridge/core').TaskRecord[]} */
  const records = []
  /** @type {string | undefined} */
  let cursor
  do {
    const page = await store.list('local', {}, 500, cursor)
    records.push(...page.records)
    cursor = page.next
  } while (cursor)
  return records
}

/**
 * @template T, R
 * @param {readonly T[]} items
 * @param {(item: T) => Promise<R>} each
 */
async function inTurns(items, each) {
  const queue = [...items]
  /** @type {R[]} */
  const results = []
  const worker = async () => {
    for (let item = queue.shift(); item; item = queue.shift()) results.push(await each(item))
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  return results
}
