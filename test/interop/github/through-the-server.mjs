import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from 'node:assert'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startGitHubEmulator } from '@runbridge/emulators/github'
import { root, run } from '../../bin/command.mjs'
import { serve } from '../../bin/serve.mjs'
import { call } from '../../faults/call.mjs'
import { connect } from '../client.mjs'
import { webhookExamples } from './downloads.mjs'
import { SHOP } from './repository.mjs'
import { signed } from './signed.mjs'

/** @typedef {import('../checks.mjs').Checks} Checks */
/** @typedef {import('@runbridge/emulators/github').Exchange} Exchange */

const CONFIG = join(root, 'test/fixtures/interop-github.yaml')
const SECRETS = {
  GITHUB_TOKEN: 'a-token-of-the-server',
  REVIEWER_TOKEN: 'a-token-of-a-reviewer',
  WEBHOOK_SECRET: 'a-secret-of-the-webhook',
}
const PATIENCE_MS = 30_000

/**
 * The server as `runbridge serve` runs it, through the official client, against the stand-in.
 * @param {Checks} checks @param {(line: string) => void} print @param {(exchange: Exchange) => void} onExchange
 */
export async function throughTheServer({ check }, print, onExchange) {
  const github = await startGitHubEmulator({
    repositories: { 'octo/shop': SHOP },
    tokens: {
      [SECRETS.GITHUB_TOKEN]: { login: 'robot' },
      [SECRETS.REVIEWER_TOKEN]: { login: 'octocat' },
      'reads-only': { login: 'robot', permissions: { actions: 'read', contents: 'read' } },
    },
    onExchange,
  })
  const folder = mkdtempSync(join(tmpdir(), 'runbridge-interop-'))
  const env = { ...SECRETS, GITHUB_API: github.url, RUNBRIDGE_STORE: join(folder, 'tasks.sqlite') }
  let server = await serve({ config: CONFIG, env })
  /** @type {{ message: string, answer: any }[]} */
  const asked = []
  /** @type {any} */
  let nextAnswer = { action: 'decline' }
  const person = (/** @type {string} */ message) => {
    asked.push({ message, answer: nextAnswer })
    return nextAnswer
  }
  let client = await connect(server.url, person)
  let printed = ''

  const look = async (/** @type {string} */ taskId) =>
    (await call(server.url, 'tasks/get', { taskId }))?.result
  const newest = () => github.runs().at(-1) ?? { id: 0, title: '', inputs: {} }
  /** Looks at a task until this holds. @param {string} taskId @param {(task: any) => boolean} holds */
  const until = async (taskId, holds) => {
    const patience = Date.now() + PATIENCE_MS
    for (let last; ; await pause(150)) {
      last = await look(taskId)
      if (last && holds(last)) return last
      if (Date.now() > patience) throw new Error(`never came to it: ${JSON.stringify(last)}`)
    }
  }
  const build = { version: '1.2.3' }
  /** @param {string} version */
  const builds = async (version) => {
    const { end } = await client.call('build', { version })
    const { status, structured } = await end
    deepStrictEqual([status, structured], ['completed', { image: `shop:${version}` }])
  }
  /** @param {Parameters<typeof github.delivery>[1]} event @param {number} id */
  const deliver = (event, id, secret = SECRETS.WEBHOOK_SECRET) => {
    const { headers, body } = github.delivery(id, event, secret)
    return post(body, headers)
  }
  /** @param {string} body @param {Record<string, string>} headers */
  const post = async (body, headers) => {
    const url = new URL('/webhooks/github', server.url)
    return (await fetch(url, { method: 'POST', body, headers })).status
  }

  try {
    await check('the arguments come from the workflow file, without the run key', async () => {
      const { result } = await call(server.url, 'tools/list', {})
      const { inputSchema } = result.tools.find((/** @type {any} */ tool) => tool.name === 'build')
      deepStrictEqual(inputSchema.required, ['version'])
      deepStrictEqual(Object.keys(inputSchema.properties), ['version', 'dry_run'])
      const { error, result: refused } = await call(server.url, 'tools/call', {
        name: 'build',
        arguments: { verison: '1' },
      })
      ok(error ?? refused?.isError, 'a wrong argument was taken')
      strictEqual(github.runs().length, 0)
    })
    await check('a dispatch that tells the id of its run, its result artifact and its links', async () => {
      const { taskId, end, messages } = await client.call('build', build)
      deepStrictEqual((await end).structured, { image: 'shop:1.2.3' })
      ok(
        messages.some((message) => /job build: step \d of 3, /.test(message)),
        messages.join('\n'),
      )
      const { result } = await look(taskId)
      const links = result.content.filter((/** @type {any} */ part) => part.type === 'resource_link')
      deepStrictEqual(
        links.map((/** @type {any} */ link) => link.name),
        ['Run on GitHub', 'Artifact runbridge-result', 'Artifact binaries'],
      )
    })
    await check('a dispatch on a server that refuses to tell the id, and 204', async () => {
      github.setDispatch('none')
      await builds('2')
      await builds('3')
      const bodies = /** @type {any[]} */ (github.calls().dispatches).slice(-3)
      deepStrictEqual(
        bodies.map((body) => body.return_run_details),
        [true, undefined, undefined],
      )
    })
    await check('a dispatch on a version that always tells the id', async () => {
      github.setDispatch('always')
      await builds('4')
      github.setDispatch('details')
    })
    await check('a start by an event of the repository', async () => {
      const { end } = await client.call('by_event', { parcel: 17 })
      strictEqual((await end).status, 'completed')
      deepStrictEqual(/** @type {any} */ (newest().inputs).parcel, 17)
    })
    await check('a dispatch whose answer is lost is found, and was sent once', async () => {
      const before = github.runs().length
      github.faults.next('actions/create-workflow-dispatch', { kind: 'dropAfterExecuting' })
      await builds('5')
      strictEqual(github.runs().length, before + 1)
    })
    await check('two runs with the key are an error, never a guess', async () => {
      github.faults.next('actions/create-workflow-dispatch', { kind: 'dropAfterExecuting' })
      github.faults.next('actions/list-workflow-runs', ...Array(3).fill({ kind: 'status', status: 502 }))
      const before = github.runs().length
      const started = client.call('build', build)
      while (github.runs().length === before) await pause(5)
      github.start('octo/shop', 'build.yml', { event: 'workflow_dispatch', title: newest().title })
      const { taskId, end } = await started
      strictEqual((await end).status, 'failed')
      match((await look(taskId)).statusMessage, /2 runs carry its key.*do not repeat/is)
    })
    await check('a dispatch that nobody finds is lost, says so, and how to name runs', async () => {
      github.faults.next('actions/create-workflow-dispatch', { kind: 'dropBeforeExecuting' })
      const { taskId, end } = await client.call('unnamed')
      strictEqual((await end).status, 'failed')
      match((await look(taskId)).statusMessage, /run-name.*may have started/s)
    })
    await check('a failed run is read: step, annotation, the end of its log without signs', async () => {
      const { taskId, end } = await client.call('test')
      const { status, isError, text } = await end
      deepStrictEqual([status, isError], ['completed', true])
      match(text, /"test \/ Run tests" with "failure".*"expected 1, got 2"/s)
      const { result } = await look(taskId)
      const detail = result.content[1].text
      match(detail, /failure src\/sum\.ts:7: expected 1, got 2/)
      match(detail, /\nexpected 1, got 2\ntoken: \*\*\*\nError: Process completed with exit code 1\./)
    })
    await check('a waiting environment is a question, and takes an approval with its comment', async () => {
      nextAnswer = { action: 'accept', content: { decision: 'approve', comment: 'Friday is fine' } }
      const { end } = await client.call('deploy')
      deepStrictEqual((await end).structured, { said: 'Friday is fine' })
      match(asked.at(-1)?.message ?? '', /Approve the deployment to production in run \d+ of octo\/shop\?/)
    })
    await check('a rejection fails the run', async () => {
      nextAnswer = { action: 'accept', content: { decision: 'reject' } }
      const { isError, text } = await (await client.call('deploy')).end
      ok(isError)
      match(text, /deploy/)
    })
    await check('a result that is a bomb is refused, and the run succeeded all the same', async () => {
      const { status, isError, text } = await (await client.call('bomb')).end
      deepStrictEqual([status, isError], ['completed', false])
      match(text, /is not shown: its file has 60000000 bytes/)
    })
    await check('a cancel that comes too late changes nothing', async () => {
      const { result } = await call(server.url, 'tools/call', { name: 'build', arguments: { version: '6' } })
      await pause(2_000)
      const { error } = await call(server.url, 'tasks/cancel', { taskId: result.taskId })
      strictEqual(error, undefined)
      const task = await until(result.taskId, ({ status }) => status !== 'working')
      deepStrictEqual([task.status, task.result.structuredContent], ['completed', { image: 'shop:6' }])
    })
    await check('a cancel stops a run', async () => {
      const { taskId, end } = await client.call('long')
      await client.cancel(taskId)
      strictEqual((await end).status, 'cancelled')
    })
    await check('a run that ignores its cancel is stopped by force, also after the server died', async () => {
      const { result } = await call(server.url, 'tools/call', { name: 'stubborn', arguments: {} })
      await call(server.url, 'tasks/cancel', { taskId: result.taskId })
      strictEqual((await look(result.taskId)).status, 'working')
      strictEqual(github.calls().byOperation['actions/force-cancel-workflow-run'], undefined)
      printed += server.log()
      await client.close()
      await server.end('SIGKILL')
      server = await serve({ config: CONFIG, env })
      client = await connect(server.url, person)
      const task = await until(result.taskId, ({ status }) => status !== 'working')
      strictEqual(task.status, 'cancelled')
      ok(github.calls().byOperation['actions/force-cancel-workflow-run'], 'nothing was sent by force')
    })
    await check('a delivery changes a task at once; forged and repeated ones do not matter', async () => {
      const { result } = await call(server.url, 'tools/call', { name: 'build', arguments: { version: '7' } })
      const { id } = newest()
      await pause(2_000)
      const reads = () => github.calls().byOperation['actions/get-workflow-run-attempt'] ?? 0
      const before = reads()
      strictEqual(await deliver('workflow_run', id, 'another-secret-of-16'), 401)
      strictEqual(reads(), before)
      strictEqual(await deliver('workflow_run', id), 202)
      strictEqual(reads(), before + 1)
      deepStrictEqual((await look(result.taskId)).result.structuredContent, { image: 'shop:7' })
      for (const event of /** @type {const} */ (['workflow_run', 'workflow_job', 'deployment_review'])) {
        strictEqual(await deliver(event, id), 202)
      }
      strictEqual(reads(), before + 1)
    })
    await check(
      "GitHub's own example deliveries go through, and those of unknown runs change nothing",
      async () => {
        const before = github.calls().total
        let taken = 0
        for (const { name, examples } of webhookExamples()) {
          for (const example of examples) {
            const { body, headers } = signed(example, name, SECRETS.WEBHOOK_SECRET)
            strictEqual(await post(body, headers), 202, name)
            taken += 1
          }
        }
        ok(taken > 100, `only ${taken} examples`)
        strictEqual(github.calls().total, before)
      },
    )
    await check('a run that somebody else started is watched, and its re-run is another task', async () => {
      const id = github.start('octo/shop', 'test.yml', { event: 'push' })
      const page = `${github.url}/octo/shop/actions/runs/${id}`
      const first = await client.call('watch', { run: page })
      ok((await first.end).isError)
      github.rerun(id)
      const second = await client.call('watch', { run: page })
      notStrictEqual(second.taskId, first.taskId)
      ok((await second.end).isError)
      deepStrictEqual((await look(first.taskId)).status, 'completed')
      const { result, error } = await call(server.url, 'tools/call', {
        name: 'watch',
        arguments: { run: 'https://github.com/octo/secret/actions/runs/1' },
      })
      ok(error ?? result?.isError, 'a run elsewhere was watched')
    })
    await check('a token that loses access, limits and outages end no task', async () => {
      const { result } = await call(server.url, 'tools/call', { name: 'build', arguments: { version: '8' } })
      const unreadable = (/** @type {any} */ task) => /Not readable since/.test(task.statusMessage)
      github.setToken(SECRETS.GITHUB_TOKEN, undefined)
      const task = await until(result.taskId, unreadable)
      deepStrictEqual(task.status, 'working')
      match(task.statusMessage, /renew/)
      github.setToken(SECRETS.GITHUB_TOKEN, { login: 'robot', repositories: [] })
      await until(result.taskId, ({ statusMessage }) => /does not show/.test(statusMessage))
      github.setToken(SECRETS.GITHUB_TOKEN, { login: 'robot' })
      github.faults.next('actions/get-workflow-run-attempt', { kind: 'secondaryLimit', retryAfter: 4 })
      await until(result.taskId, ({ statusMessage }) => /limits/.test(statusMessage))
      const reads = github.calls().total
      await pause(2_500)
      strictEqual((await look(result.taskId)).status, 'working')
      strictEqual(github.calls().total, reads)
      const ended = await until(result.taskId, ({ status }) => status !== 'working')
      deepStrictEqual(ended.result.structuredContent, { image: 'shop:8' })
    })
    await check('a repository that is renamed meanwhile is followed', async () => {
      const { end } = await client.call('build', { version: '9' })
      github.rename('octo/shop', 'acme/store')
      deepStrictEqual((await end).structured, { image: 'shop:9' })
      await builds('10')
      match(server.log(), /new name/)
    })
    await check('a run that is deleted while it is watched is lost after the grace', async () => {
      const { result } = await call(server.url, 'tools/call', { name: 'long', arguments: {} })
      await until(result.taskId, ({ statusMessage }) => /sleep/.test(statusMessage))
      github.forget(newest().id)
      const task = await until(result.taskId, ({ status }) => status !== 'working')
      deepStrictEqual([task.status, task.error.code], ['failed', -32603])
    })
    await check('check names the permissions that are missing', async () => {
      const checked = await run(
        process.execPath,
        ['packages/cli/dist/main.js', 'check', '--config', CONFIG],
        {
          env: { ...env, GITHUB_TOKEN: 'reads-only', RUNBRIDGE_STORE: join(folder, 'check.sqlite') },
        },
      )
      strictEqual(checked.code, 1)
      match(checked.output, /MISSING {2}Actions: write on octo\/shop/)
      match(checked.output, /allowed {2}Contents: read/)
    })
    await check('no secret is in what the server printed', () => {
      const all = printed + server.log()
      for (const secret of Object.values(SECRETS)) ok(!all.includes(secret), 'a secret was printed')
    })
    const { total, notModified, costed } = github.calls()
    print(`        ${total} requests of all this, ${notModified} of them 304, ${costed} of the quota`)
  } finally {
    await client.close()
    await server.end()
    await github.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
