import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { root, run } from '../../bin/command.mjs'
import { connect } from '../client.mjs'
import { installedPython } from '../installed.mjs'
import { startFunctionUrl } from './function-url.mjs'
import { startSandbox } from './sandbox.mjs'
import { verifySigV4 } from './sigv4.mjs'

/** AWS's proxy for hosts that can't sign, with all of its dependencies pinned; it signs by botocore. */
const PROXY = 'mcp-proxy-for-aws-cli==1.7.0'
const NAME = 'callers that sign'
const PLACE = { service: 'lambda', region: 'us-east-1' }
const ACCOUNT = '000000000000'

/** Two sessions of one role, and a user. */
const ROLE = 'AROAEXAMPLEAGENTS'
const SESSION_ONE = { accessKeyId: 'ASIAONE', secretAccessKey: 'one', sessionToken: 'session/one+==' }
const SESSION_TWO = { accessKeyId: 'ASIATWO', secretAccessKey: 'two', sessionToken: 'session/two+==' }
const USER = { accessKeyId: 'AKIAUSER', secretAccessKey: 'user' }
/** @type {Readonly<Record<string, { secretAccessKey: string, sessionToken?: string, callerId: string }>>} */
const KEYS = {
  ASIAONE: { ...SESSION_ONE, callerId: `${ROLE}:one` },
  ASIATWO: { ...SESSION_TWO, callerId: `${ROLE}:two` },
  AKIAUSER: { ...USER, callerId: 'AIDAEXAMPLEUSER' },
}

/** What a Function URL of AuthType AWS_IAM does before it invokes. @type {import('./function-url.mjs').Authorize} */
function authorize(request) {
  const secretOf = (/** @type {string} */ id) => KEYS[id]
  const found = verifySigV4(request, { ...PLACE, secretOf, now: Date.now() })
  if ('refused' in found) return found
  const { accessKeyId } = found
  const callerId = KEYS[accessKeyId]?.callerId ?? ''
  return { iam: { accessKey: accessKeyId, accountId: ACCOUNT, callerId, userId: callerId } }
}

/** @param {{ accessKeyId: string, secretAccessKey: string, sessionToken?: string }} keys */
const asVariables = ({ accessKeyId, secretAccessKey, sessionToken }) => ({
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
  ...(sessionToken && { AWS_SESSION_TOKEN: sessionToken }),
})

/**
 * The handler for callers known by IAM, behind a Function URL that checks signatures: the example of the documentation,
 * with and without tasks, and AWS's own proxy for hosts that can't sign.
 * @param {import('../checks.mjs').Checks} checks
 * @param {{ program: string, folder: string, env: NodeJS.ProcessEnv }} world `folder` has the bundle for `callers: iam`
 */
export async function signed({ check }, { program, folder, env }) {
  const name = (/** @type {string} */ what) => `${NAME}: ${what}`
  const { signedFetch } = await import(join(root, 'examples/aws-iam/signed-fetch.mjs'))
  const sandbox = await startSandbox({ program, folder, env: { ...env, RUNBRIDGE_CALLERS: 'iam' } })
  const front = await startFunctionUrl(sandbox.invoke, authorize)
  const open = await startFunctionUrl(sandbox.invoke)
  /** @param {typeof SESSION_ONE | typeof USER} keys */
  const as = (keys) =>
    connect(
      front.url,
      () => ({ action: 'decline' }),
      {},
      signedFetch({ ...PLACE, credentials: async () => keys }),
    )
  try {
    await check(
      name('who does not sign reaches nothing, and is nobody where the URL checks nothing'),
      async () => {
        const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
        strictEqual((await fetch(front.url, request)).status, 403)
        const answer = await fetch(open.url, request)
        strictEqual(answer.status, 401)
        match(await answer.text(), /sign the request with SigV4/)
      },
    )
    await check(name('the official client of the example runs a tool; its task is its role’s'), async () => {
      const [one, two, user] = await Promise.all([as(SESSION_ONE), as(SESSION_TWO), as(USER)])
      try {
        const call = await one.call('nap', { name: 'Ada' })
        deepStrictEqual((await call.end).structured, { name: 'Ada' })
        const again = await two.resume(call.taskId)
        deepStrictEqual((await again.end).structured, { name: 'Ada' })
        await rejects(async () => (await user.resume(call.taskId)).end)
      } finally {
        await Promise.all([one.close(), two.close(), user.close()])
      }
    })
    await check(name('the example as a program, with credentials of the environment'), async () => {
      const program = join(root, 'examples/aws-iam/client.mjs')
      const place = { SERVICE: PLACE.service, REGION: PLACE.region, ...asVariables(SESSION_ONE) }
      const listed = await run('node', [program, front.url], { env: place })
      match(listed.stdout, /"greet: Says hello/)
      const called = await run('node', [program, front.url, 'greet', '{"a":1}'], { env: place })
      match(called.stdout, /Task tsk_/)
      const wrong = { ...place, AWS_SECRET_ACCESS_KEY: 'another' }
      const refused = await run('node', [program, front.url], { env: wrong })
      ok(refused.code !== 0)
      match(refused.output, /403/)
    })
    await check(name('a host that can not sign, by mcp-proxy-for-aws over stdio'), async () => {
      const command = join((await installedPython(PROXY)).folder, 'bin/mcp-proxy-for-aws-cli')
      const args = [front.url, '--service', PLACE.service, '--log-level', 'ERROR']
      const transport = new StdioClientTransport({
        command,
        args,
        env: { PATH: process.env.PATH ?? '', AWS_REGION: PLACE.region, ...asVariables(SESSION_ONE) },
        stderr: 'pipe',
      })
      const client = new Client({ name: 'host', version: '0' }, { versionNegotiation: { mode: 'auto' } })
      await client.connect(transport)
      try {
        const { tools } = await client.listTools()
        ok(tools.some((tool) => tool.name === 'greet'))
        const { content } = await client.callTool({ name: 'greet', arguments: { b: 2 } })
        const taskId = /tsk_[\w-]+/.exec(JSON.stringify(content))?.[0]
        const status = { name: 'task_status', arguments: { taskId } }
        const ask = async () => JSON.stringify((await client.callTool(status)).content)
        let answer = await ask()
        while (answer.includes('not the result yet')) {
          await pause(1_000)
          answer = await ask()
        }
        match(answer, /\{\\"b\\":2\}/)
      } finally {
        await client.close()
      }
    })
  } catch (thrown) {
    throw new Error(`${thrown instanceof Error ? thrown.stack : thrown}\n${sandbox.log().slice(-2000)}`)
  } finally {
    await front.close()
    await open.close()
    await sandbox.close()
  }
}
