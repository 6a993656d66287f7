import { deepStrictEqual, match, ok, strictEqual } from 'node:assert'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startStepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { createToken } from '@runbridge/server'
import { bin, root, run } from '../../bin/command.mjs'
import { mcpRequest, mcpResult } from '../../bin/mcp-request.mjs'
import { createChecks } from '../checks.mjs'
import { connect } from '../client.mjs'
import { againstMinistack } from './against-ministack.mjs'
import { apiGateway } from './api-gateway.mjs'
import { startFunctionUrl } from './function-url.mjs'
import { runtimeClient } from './runtime-client.mjs'
import { startSandbox } from './sandbox.mjs'
import { signed } from './signed.mjs'
import { streaming } from './streaming.mjs'
import { startTable } from './table.mjs'

const TABLE = 'tasks'
const REGION = 'us-east-1'
const NAME = 'the handler'

const DEFINITIONS = {
  greet: { StartAt: 'Done', States: { Done: { Type: 'Pass', End: true } } },
  nap: {
    StartAt: 'Sleep',
    States: { Sleep: { Type: 'Wait', Seconds: 2, Next: 'Done' }, Done: { Type: 'Pass', End: true } },
  },
  deploy: {
    StartAt: 'Approve',
    States: {
      Approve: {
        Type: 'Task',
        Resource: 'arn:aws:states:::sqs:sendMessage.waitForTaskToken',
        Parameters: {
          QueueUrl: 'https://sqs.us-east-1.amazonaws.com/000000000000/approvals',
          MessageBody: { 'TaskToken.$': '$$.Task.Token' },
        },
        End: true,
      },
    },
  },
}

/**
 * What `npx cdk synth` bundles, under AWS's own runtime client, which is stopped between invocations; the embedded engine
 * and dynalite behind it, and the official client in front, by the events of a Function URL.
 * @type {import('../../bin/interop.mjs').Part}
 */
export async function lambda(print) {
  const checks = createChecks(print)
  const program = await runtimeClient(print)
  if (program === undefined) {
    checks.skip(NAME, 'aws-lambda-ric can not be built here; what is missing stands above')
  } else {
    await underTheRuntimeClient(checks, program)
  }
  await againstMinistack(checks, print, program)
  checks.skip('AWS itself', 'there is no account here')
  return checks.figures
}

/** @param {import('../checks.mjs').Checks} checks @param {string} program */
async function underTheRuntimeClient(checks, program) {
  const out = mkdtempSync(join(tmpdir(), 'runbridge-cdk-'))
  const engine = await startStepFunctionsEmulator({
    region: REGION,
    stateMachines: { ...DEFINITIONS, quote: { definition: DEFINITIONS.greet, type: 'EXPRESS' } },
  })
  const table = await startTable({ name: TABLE, region: REGION })
  try {
    const folder = await synthesized(join(out, 'tokens'), 'interop-lambda.yaml')
    await throughTheHandler(checks, { program, folder, engine, endpoint: table.endpoint })
    await streaming(checks, { program, folder, env: variables(engine, table) }, engine)
    const forIam = await synthesized(join(out, 'iam'), 'interop-lambda-iam.yaml', ['-c', 'callers=iam'])
    await signed(checks, { program, folder: forIam, env: variables(engine, table) })
    await apiGateway(checks, { program, env: variables(engine, table), forTokens: folder, forIam })
  } finally {
    await table.close()
    await engine.close()
    rmSync(out, { recursive: true, force: true })
  }
}

/** @param {{ url: string }} engine @param {{ endpoint: string }} table */
const variables = (engine, { endpoint }) => ({
  RUNBRIDGE_TABLE: TABLE,
  DYNAMODB_ENDPOINT: endpoint,
  STEP_FUNCTIONS_ENDPOINT: engine.url,
})

/** The folder of the bundle. @param {string} out @param {string} fixture @param {readonly string[]} [more] */
async function synthesized(out, fixture, more = []) {
  const config = join(root, 'test/fixtures', fixture)
  const args = ['synth', '--quiet', '--output', out, '-c', `config=${config}`, ...more]
  const { code, output } = await run(bin('cdk'), args, { cwd: join(root, 'infra') })
  if (code !== 0) throw new Error(`cdk synth failed: ${output.trim().slice(-800)}`)
  const asset = readdirSync(out).find((name) => name.startsWith('asset.'))
  if (asset === undefined) throw new Error('cdk synth made no bundle')
  return join(out, asset)
}

/**
 * @param {import('../checks.mjs').Checks} checks
 * @param {{ program: string, folder: string, endpoint: string, engine: Awaited<ReturnType<typeof startStepFunctionsEmulator>> }} world
 */
async function throughTheHandler({ check }, { program, folder, engine, endpoint }) {
  const { token, sha256 } = createToken()
  const headers = { authorization: `Bearer ${token}` }
  const env = { TOKEN_SHA256: sha256, ...variables(engine, { endpoint }) }
  const sandbox = await startSandbox({ program, folder, env })
  const front = await startFunctionUrl(sandbox.invoke)
  const name = (/** @type {string} */ what) => `${NAME}: ${what}`
  const standing = async () => {
    while (!sandbox.frozen()) await pause(5)
  }
  /** @param {string} arn @param {string} status */
  const changed = (arn, status, at = sandbox) =>
    at.invoke({
      version: '0',
      source: 'aws.states',
      'detail-type': 'Step Functions Execution Status Change',
      detail: { executionArn: arn, name: arn.split(':').at(-1), status },
    })
  const started = () => /** @type {string} */ (engine.executions().at(-1)?.executionArn)
  try {
    await check(
      name('a caller without a token is told where to get one, through AWS’s runtime client'),
      async () => {
        const response = await fetch(front.url, { method: 'POST', body: '{}' })
        strictEqual(response.status, 401)
        match(response.headers.get('www-authenticate') ?? '', /^Bearer/)
      },
    )
    const client = await connect(front.url, () => ({ action: 'accept', content: {} }), headers)
    try {
      await check(
        name('the official client runs a tool to its result, frozen between its polls'),
        async () => {
          const before = sandbox.invocations()
          const call = await client.call('nap', { name: 'Ada' })
          await standing()
          const end = await call.end
          deepStrictEqual([end.status, end.structured], ['completed', { name: 'Ada' }])
          ok(sandbox.invocations() - before >= 3)
        },
      )
      await check(
        name('a person is asked at a state that waits for a token, and the run goes on'),
        async () => {
          const { end } = await client.call('deploy')
          strictEqual((await end).status, 'completed')
        },
      )
      await check(
        name('a status change brings its task up to date; a doubled and a foreign one change nothing'),
        async () => {
          const call = await client.call('greet', { a: 1 })
          const arn = started()
          await engine.ended(arn)
          await changed(arn, 'SUCCEEDED')
          await changed(arn, 'SUCCEEDED')
          await changed(`${arn.slice(0, arn.lastIndexOf(':'))}:rb-unknown`, 'FAILED')
          deepStrictEqual((await call.end).structured, { a: 1 })
        },
      )
      await check(name('the schedule sweeps'), async () => {
        strictEqual(await sandbox.invoke({ runbridge: 'sweep' }), null)
      })
      await check(name('an event that nobody takes fails, as dead letters need it'), async () => {
        const thrown = await sandbox.invoke({ hello: 1 }).catch((/** @type {Error} */ error) => error)
        match(String(thrown), /This event is no HTTP request/)
      })
      await check(
        name('another sandbox takes the status change of a task of the first, and answers for it'),
        async () => {
          const { taskId } = await client.call('greet', { b: 2 })
          const arn = started()
          await engine.ended(arn)
          const other = await startSandbox({ program, folder, env })
          const second = await startFunctionUrl(other.invoke)
          try {
            await changed(arn, 'SUCCEEDED', other)
            const answer = await plain(second.url, headers, 'task_status', { taskId })
            match(answer, /"b":2/)
          } finally {
            await second.close()
            await other.close()
          }
        },
      )
      await check(
        name('a client without tasks is answered at once, and by an Express workflow within the call'),
        async () => {
          match(await plain(front.url, headers, 'nap', {}), /^Task tsk_/)
          match(await plain(front.url, headers, 'quote', { c: 3 }), /"c":3/)
        },
      )
      await check(name('no token, no task token and no callback URL is in its log'), async () => {
        const log = sandbox.log()
        ok(!log.includes(token))
        ok(!/token-[0-9a-f-]{36}/i.test(log))
        match(log, /"audit":"call"/)
      })
    } finally {
      await client.close()
    }
  } catch (thrown) {
    throw new Error(`${thrown instanceof Error ? thrown.stack : thrown}\n${sandbox.log().slice(-2000)}`)
  } finally {
    await front.close()
    await sandbox.close()
  }
}

/**
 * One call of a client of 2026-07-28 without tasks; the text that it gets.
 * @param {string} url @param {Record<string, string>} more @param {string} name @param {object} args
 */
async function plain(url, more, name, args) {
  const { headers, body } = mcpRequest('tools/call', { name, arguments: args })
  const response = await fetch(url, { method: 'POST', headers: { ...headers, ...more }, body })
  return mcpResult(await response.text()).content[0].text
}
