import { deepStrictEqual, match, ok, strictEqual } from 'node:assert'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startGoogleWorkflowsEmulator } from '@runbridge/emulators/google'
import { sqlite } from '@runbridge/stores/sqlite'
import { root } from '../../bin/command.mjs'
import { serve } from '../../bin/serve.mjs'
import { connect } from '../client.mjs'

/** @typedef {import('../checks.mjs').Checks} Checks */
/** @typedef {'grpc' | 'rest'} Transport */

const PATIENCE_MS = 60_000
/** Executions at the same time in the stand-in. */
const QUOTA = 3

/** What the tools run. `work` ends when the check says so. @param {{ finished: Promise<unknown> }} work */
const workflowsFor = (work) => ({
  greet: {
    description: 'Says hello.',
    steps: [
      { step: 'think', ms: 1_500 },
      { step: 'say', return: { hello: '$input.name' } },
    ],
  },
  charge: {
    steps: [
      {
        step: 'pay',
        routine: 'charge',
        steps: [
          { step: 'call', ms: 100, raise: { message: 'card declined', code: 402, tags: ['HttpError'] } },
        ],
      },
    ],
  },
  each: {
    steps: [
      { step: 'each', for: 3, steps: [{ step: 'wait', call: () => work.finished }] },
      { step: 'done', return: 'three' },
    ],
  },
  deploy: {
    steps: [
      { step: 'prepare', assign: { question: 'Roll out 1.2?' } },
      { step: 'create', createCallback: 'details' },
      { step: 'approve', awaitCallback: 'details', result: 'answer' },
      { step: 'again', assign: { first: '$answer.http_request.body', question: 'And everywhere?' } },
      { step: 'approve', awaitCallback: 'details', result: 'answer' },
      { step: 'done', return: { first: '$first', second: '$answer.http_request.body' } },
    ],
  },
  work: {
    stopsAfterMs: 600_000,
    steps: [
      { step: 'work', call: () => work.finished },
      { step: 'done', return: 'finished' },
    ],
  },
  sleep: { steps: [{ step: 'sleep', ms: 600_000 }] },
})

/**
 * The server as `runbridge serve` runs it, through the official client, on one of the two transports.
 * @param {Checks} checks @param {Transport} transport
 */
export async function throughTheServer(checks, transport) {
  const work = { finished: Promise.resolve(), finish: () => {} }
  /** The next executions of `work` and `each` wait until `work.finish()`. */
  const hold = () => {
    work.finished = new Promise((resolve) => {
      work.finish = () => resolve(undefined)
    })
  }
  const engine = await startGoogleWorkflowsEmulator({ workflows: workflowsFor(work), maxConcurrent: QUOTA })
  const folder = mkdtempSync(join(tmpdir(), 'runbridge-interop-'))
  const database = join(folder, 'tasks.sqlite')
  const serveAgain = () =>
    serve({
      config: join(root, 'test/fixtures/interop-google.yaml'),
      env: { RUNBRIDGE_STORE: database, RUNBRIDGE_ENDPOINT: engine.url, RUNBRIDGE_TRANSPORT: transport },
    })
  let server = await serveAgain()
  /** @type {(message: string) => import('../client.mjs').Answer} */
  let person = () => ({ action: 'decline' })
  let client = await connect(server.url, (message) => person(message))
  let logs = ''
  const restart = async (/** @type {NodeJS.Signals} */ signal) => {
    await server.end(signal)
    logs += server.log()
    await client.close().catch(() => undefined)
    server = await serveAgain()
    client = await connect(server.url, (message) => person(message))
  }
  /** @param {string} name @param {() => unknown} check */
  const check = (name, check) => checks.check(`${transport}: ${name}`, check)
  const starts = () => engine.calls().starts
  try {
    await check('a start becomes a task, shows its step and ends with the result', async () => {
      engine.resetCalls()
      const { messages, end } = await client.call('greet', { name: 'Ada' })
      const { status, structured } = await end
      deepStrictEqual([status, structured], ['completed', { hello: 'Ada' }])
      ok(
        messages.some((message) => message.includes('Now at: "main.think"')),
        messages.join('\n'),
      )
      strictEqual(engine.calls().bySurface[transport] > 0, true)
      if (transport === 'rest') strictEqual(engine.calls().bySurface.grpc, 0)
    })
    await check('a failure names its step, its error and its payload', async () => {
      const { isError, text } = await (await client.call('charge')).end
      strictEqual(isError, true)
      match(text, /at step "charge\.call" with "HttpError".*"card declined"/)
    })
    await check('a loop is counted by its step entries', async () => {
      hold()
      const { messages, end } = await client.call('each')
      await until(() => messages.some((message) => message.includes('(0 of 3)')))
      work.finish()
      strictEqual((await end).text, 'three')
    })
    await check('a run beyond the quota is queued, says why, and goes on when there is room', async () => {
      const busy = Array.from({ length: QUOTA }, () => engine.execute('sleep'))
      const { messages, end } = await client.call('greet', { name: 'Bob' })
      await until(() =>
        messages.some((message) => /\(QUEUED\).*concurrency quota of us-central1/.test(message)),
      )
      for (const name of busy) await fetch(`${engine.url}/v1/${name}:cancel`, { method: 'POST' })
      deepStrictEqual((await end).structured, { hello: 'Bob' })
    })
    await check(
      'a gate asks, is asked again as a new question, and its answers reach the workflow',
      async () => {
        /** @type {string[]} */
        const asked = []
        person = (message) => {
          asked.push(message)
          return { action: 'accept', content: { comment: `${asked.length}` } }
        }
        const { end, messages } = await client.call('deploy')
        const { structured } = await end
        deepStrictEqual(structured, { first: { comment: '1' }, second: { comment: '2' } })
        deepStrictEqual(asked, ['Roll out 1.2?', 'And everywhere?'])
        ok(!messages.join().includes('/callbacks/'), 'a callback was shown')
      },
    )
    await check('a gate that is declined tells the workflow so', async () => {
      person = () => ({ action: 'decline' })
      const { end } = await client.call('deploy')
      deepStrictEqual((await end).structured, { first: { approved: false }, second: { approved: false } })
    })
    await check('a cancel stops the run, and the task says so once Google does', async () => {
      const { taskId, messages, end } = await client.call('sleep')
      await until(() => messages.some((message) => message.includes('Now at: "main.sleep"')))
      await client.cancel(taskId)
      strictEqual((await end).status, 'cancelled')
      deepStrictEqual(engine.executions().at(-1)?.state, 'CANCELLED')
    })
    await check('a run that ends before it stops keeps its result', async () => {
      hold()
      const { taskId, messages, end } = await client.call('work')
      await until(() => messages.some((message) => message.includes('Now at: "main.work"')))
      engine.resetCalls()
      // The client that follows a task takes its own cancel for the end.
      const other = await connect(server.url, person)
      await other.cancel(taskId)
      await until(() => engine.calls().byOperation.CancelExecution !== undefined)
      await other.close()
      work.finish()
      const { status, text } = await end
      deepStrictEqual([status, text], ['completed', 'finished'])
    })
    await check('a start whose answer is lost is found by its label and not sent again', async () => {
      engine.resetCalls()
      engine.faults.next('CreateExecution', { kind: 'dropAfterExecuting' })
      const { end } = await client.call('greet', { name: 'Eve' })
      deepStrictEqual((await end).structured, { hello: 'Eve' })
      strictEqual(starts().length, 1)
    })
    await check('a start that never arrived is lost, said so, and not sent again', async () => {
      engine.resetCalls()
      engine.faults.next('CreateExecution', { kind: 'dropBeforeExecuting' })
      const { end } = await client.call('greet', { name: 'Eve' })
      const { status, text } = await end
      strictEqual(status, 'failed')
      match(text, /may have started/)
      strictEqual(starts().length, 1)
    })
    await check('throttling and an unreadable execution hold the last state and end nothing', async () => {
      hold()
      const { messages, end } = await client.call('work')
      await until(() => messages.some((message) => message.includes('Now at: "main.work"')))
      engine.faults.always('GetExecution', { kind: 'error', status: 'RESOURCE_EXHAUSTED' })
      await until(() => messages.some((message) => /Not readable since .*Google limits/.test(message)))
      const stateError = { type: 'KMS_ERROR', details: 'The key was revoked.' }
      engine.faults.always('GetExecution', { kind: 'report', fields: { state: 'UNAVAILABLE', stateError } })
      await until(() =>
        messages.some((message) => /Not readable since .*The key was revoked\./.test(message)),
      )
      engine.faults.clear()
      work.finish()
      strictEqual((await end).text, 'finished')
    })
    await check('a missing permission is named, and nothing starts', async () => {
      const before = engine.executions().length
      engine.faults.next('CreateExecution', { kind: 'denied' })
      const refused = await client.call('greet', { name: 'Eve' }).catch((thrown) => thrown)
      match(String(refused?.message), /workflows\.executions\.create|did not become a task/)
      strictEqual(engine.executions().length, before)
    })
    await check('a pinned revision that is not deployed starts nothing', async () => {
      const before = engine.executions().length
      await client.call('pinned').catch(() => undefined)
      strictEqual(engine.executions().length, before)
    })
    await check('a run that somebody else started is watched to its end', async () => {
      hold()
      const run = engine.execute('work')
      const { end } = await client.call('watch', { run })
      work.finish()
      strictEqual((await end).text, 'finished')
    })
    for (const signal of /** @type {const} */ (['SIGTERM', 'SIGKILL'])) {
      await check(`a task goes on over a restart after ${signal}`, async () => {
        hold()
        const { taskId } = await client.call('work')
        await restart(signal)
        const { end } = await client.resume(taskId)
        work.finish()
        strictEqual((await end).text, 'finished')
      })
    }
    await check('a server that dies over a start leaves a run that its successor finds', async () => {
      engine.resetCalls()
      engine.faults.next('CreateExecution', { kind: 'hang', afterExecuting: true })
      const lost = client.call('greet', { name: 'Zoe' }).catch(() => undefined)
      await until(() => starts().length === 1)
      await restart('SIGKILL')
      await lost
      const store = sqlite({ path: database })
      try {
        await until(async () => {
          const { records } = await store.list('local', { tool: 'greet' }, 1)
          return records[0]?.run?.id === starts()[0]?.outcome
        })
      } finally {
        await store.close()
      }
      strictEqual(starts().length, 1)
    })
    await check('no callback was ever logged', () => {
      ok(!(logs + server.log()).includes('/callbacks/'), 'a callback is in the log')
    })
  } finally {
    await client.close().catch(() => undefined)
    await server.end()
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {() => boolean | Promise<boolean>} holds */
async function until(holds) {
  const patience = Date.now() + PATIENCE_MS
  while (!(await holds())) {
    if (Date.now() > patience) throw new Error(`never came to it: ${holds}`)
    await pause(50)
  }
}
