import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startStepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { root } from '../../bin/command.mjs'
import { openStore } from '../stores.mjs'
import { cuttable } from './cuttable.mjs'
import { roundRobin } from './round-robin.mjs'

/** How far the clock of a process is wrong at most, in ms. */
const SKEW_MS = 300_000
/** How often a replica is started that ends at once: its ways may be cut meanwhile. */
const START_TRIES = 5
/** The service's times as they are by default, but for what would only make the test slow. In ms. */
const TIMES = {
  startTimeoutMs: 5_000,
  attemptTimeoutMs: 2_000,
  settlePauseMs: 100,
  clockAllowanceMs: 2_000,
  visibilityMs: 1_500,
  sweepMs: 1_000,
}
/** Everybody here is one owner. */
const LIMITS = { maxOpenTasks: 1_000, maxCalls: 1_000, maxSessions: 1_000, askGraceMs: 500 }

const wait = (/** @type {string} */ next) => ({ Type: 'Wait', Seconds: 1, Next: next })
const MACHINES = {
  succeeds: { StartAt: 'Work', States: { Work: wait('Done'), Done: { Type: 'Pass', End: true } } },
  fails: {
    StartAt: 'Work',
    States: { Work: wait('Stop'), Stop: { Type: 'Fail', Error: 'Wrong', Cause: 'on purpose' } },
  },
  lasts: { StartAt: 'Work', States: { Work: { Type: 'Wait', Seconds: 3_600, End: true } } },
  asks: {
    StartAt: 'Ask',
    States: {
      Ask: {
        Type: 'Task',
        Resource: 'arn:aws:states:::sqs:sendMessage.waitForTaskToken',
        Parameters: {
          QueueUrl: 'https://sqs.us-east-1.amazonaws.com/000000000000/questions',
          MessageBody: { 'token.$': '$$.Task.Token' },
        },
        TimeoutSeconds: 3_600,
        End: true,
      },
    },
  },
}

/**
 * Replicas on one store behind one address, each with ways to the database and to the engine of its own, and a clock
 * that is wrong in its own way.
 * @param {object} options
 * @param {import('../stores.mjs').SharedStore} options.shared on PostgreSQL
 * @param {number} options.replicas
 * @param {ReturnType<typeof import('./random.mjs').seeded>} options.random
 */
export async function createCluster({ shared, replicas, random }) {
  const { postgres } = shared
  if (!postgres) throw new Error('The replicas need PostgreSQL.')
  const engine = await startStepFunctionsEmulator({ stateMachines: MACHINES })
  const store = await openStore(shared)
  const database = new URL(postgres.url)
  const arn = (/** @type {string} */ name) => engine.stateMachineArn(name)
  const tools = [
    { name: 'succeeds', stateMachineArn: arn('succeeds') },
    { name: 'fails', stateMachineArn: arn('fails') },
    { name: 'lasts', stateMachineArn: arn('lasts') },
    { name: 'asks', stateMachineArn: arn('asks'), humanInput: 'elicitation' },
    { name: 'confirmed', stateMachineArn: arn('succeeds'), confirm: 'Really?' },
  ].map((tool) => ({ ...tool, holdMs: 2_000 }))

  /** @type {{ database: Awaited<ReturnType<typeof cuttable>>, engine: Awaited<ReturnType<typeof cuttable>>, child?: import('node:child_process').ChildProcess, url?: string | undefined }[]} */
  const slots = []
  for (let n = 0; n < replicas; n += 1) {
    slots.push({
      database: await cuttable(database.hostname, Number(database.port || 5432)),
      engine: await cuttable('127.0.0.1', Number(new URL(engine.url).port)),
    })
  }
  let closing = false
  let kills = 0

  async function start(/** @type {number} */ n, /** @type {boolean} */ skewed, tries = 1) {
    const slot = slots[n]
    if (!slot || closing) return
    const url = Object.assign(new URL(database.href), {
      hostname: '127.0.0.1',
      port: String(slot.database.port),
    })
    const options = {
      shared: { postgres: { ...postgres, url: url.href } },
      endpoint: `http://127.0.0.1:${slot.engine.port}`,
      tools,
      times: TIMES,
      limits: LIMITS,
      readsPerSecond: 1_000,
    }
    const skew = skewed ? random.between(-SKEW_MS, SKEW_MS) : 0
    const args = [
      '--import',
      './test/faults/shifted-clock.mjs',
      'test/faults/server.mjs',
      JSON.stringify(options),
    ]
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, FAULTS_CLOCK_MS: String(skew) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    slot.child = child
    let printed = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      printed = (printed + text).slice(-4_000)
    })
    const died = once(child, 'exit')
    slot.url = await Promise.race([
      once(child.stdout.setEncoding('utf8'), 'data').then(([text]) => String(text).trim()),
      // A way that was cut while it started: the next one may have more luck.
      died.then(() => undefined),
    ])
    if (slot.url !== undefined || closing) return
    if (tries === START_TRIES) throw new Error(`A replica did not start:\n${printed}`)
    await start(n, skewed, tries + 1)
  }

  const proxy = await roundRobin(() => slots.map(({ url }) => (url ? Number(new URL(url).port) : undefined)))

  return {
    engine,
    store,
    url: proxy.url,
    /** Of the replicas that are up. */
    urls: () => slots.flatMap(({ url }) => url ?? []),
    kills: () => kills,
    startAll: (/** @type {boolean} */ skewed) => Promise.all(slots.map((_, n) => start(n, skewed))),

    /** Ends one as SIGKILL does and starts it again, with another wrong clock. Resolves once it is up. */
    async kill(/** @type {number} */ n) {
      const slot = slots[n]
      if (!slot?.child || !slot.url) return
      kills += 1
      slot.url = undefined
      slot.child.kill('SIGKILL')
      await once(slot.child, 'exit')
      await start(n, true)
    },
    /** The next start loses its answer, or does not arrive. */
    loseStart: (/** @type {'dropAfterExecuting' | 'dropBeforeExecuting'} */ kind) =>
      engine.faults.next('StartExecution', { kind }),
    cutDatabase: (/** @type {number} */ n, /** @type {number} */ ms) => slots[n]?.database.cut(ms),
    cutEngine: (/** @type {number} */ n, /** @type {number} */ ms) => slots[n]?.engine.cut(ms),

    async close() {
      closing = true
      for (const { child } of slots) {
        if (!child || child.exitCode !== null || child.signalCode !== null) continue
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await proxy.close()
      for (const slot of slots) await Promise.all([slot.database.close(), slot.engine.close()])
      await store.close()
      await engine.close()
    },
  }
}
