import { match, strictEqual } from 'node:assert'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { createToken } from '@runbridge/server'
import { ACCOUNT, MACHINES, newUser, REGION, ROOT } from './account.mjs'
import { startFunctionUrl } from './function-url.mjs'
import { startSandbox } from './sandbox.mjs'

/** @typedef {import('../checks.mjs').Checks} Checks */
/** @typedef {import('../ministack.mjs').Ministack} Ministack */

const NAME = 'SSM and Secrets Manager'
const PARAMETER = '/runbridge/interop'
const CONFIG = `
server: { auth: { tokens: [{ name: interop, sha256: "\${TOKEN_SHA256}" }] } }
store: { sealed: { keys: ["\${SEAL}"] } }
tools:
  - name: greet
    description: Says hello.
    stepFunctions: { stateMachineArn: "\${MACHINE}" }
`

/**
 * The configuration of a parameter and secrets, read by the bundle under AWS's own runtime client with the real SDK,
 * which lies beside it as in Lambda's runtime.
 * @param {Checks} checks @param {Ministack} ministack
 * @param {{ program: string | undefined, bundle: string }} given the bundle of a stack with a parameter
 */
export async function throughTheReads({ check, skip }, ministack, { program, bundle }) {
  if (program === undefined) return skip(NAME, 'aws-lambda-ric can not be built here')
  const { call, folder: home, url: endpoint, ca } = ministack
  const folder = join(home, 'task')
  cpSync(bundle, folder, { recursive: true })

  const { token, sha256 } = createToken()
  const put = (/** @type {string} */ Name, /** @type {string} */ Value, Type = 'String') =>
    call('ssm', 'PutParameter', { Name, Value, Type, Overwrite: true })
  const newSecret = async (/** @type {string} */ Name, /** @type {object} */ value) =>
    (await call('secretsmanager', 'CreateSecret', { Name, ...value })).ARN
  const secrets = {
    TOKEN_SHA256: await newSecret('reads/token', { SecretString: sha256 }),
    SEAL: await newSecret('reads/seal', { SecretString: Buffer.alloc(32, 7).toString('base64') }),
  }
  await put(PARAMETER, CONFIG, 'SecureString')

  const env = (/** @type {NodeJS.ProcessEnv} */ more) => ({
    AWS_ENDPOINT_URL: endpoint,
    NODE_EXTRA_CA_CERTS: ca,
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    RUNBRIDGE_CONFIG_PARAMETER: PARAMETER,
    RUNBRIDGE_SECRETS: JSON.stringify(secrets),
    MACHINE: `${MACHINES}:greet`,
    ...ROOT,
    ...more,
  })
  await check(`${NAME}: the handler under AWS’s runtime client serves what they hold`, async () => {
    const sandbox = await startSandbox({ program, folder, env: env({}) })
    const front = await startFunctionUrl(sandbox.invoke)
    try {
      const ask = (/** @type {Record<string, string>} */ headers) =>
        fetch(front.url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...headers,
          },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'initialize',
            params: {
              protocolVersion: '2025-11-25',
              capabilities: {},
              clientInfo: { name: 'interop', version: '0' },
            },
          }),
        })
      const turnedAway = await ask({})
      strictEqual(turnedAway.status, 401, await turnedAway.text())
      const answer = await ask({ authorization: `Bearer ${token}` })
      strictEqual(answer.status, 200, sandbox.log())
      match(await answer.text(), /serverInfo/)
    } finally {
      await front.close()
      await sandbox.close()
    }
  })

  const missing = `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:missing-AbCdEf`
  const named = (/** @type {string} */ SEAL) => JSON.stringify({ ...secrets, SEAL })
  const allowed = { Action: 'secretsmanager:GetSecretValue', Resource: Object.values(secrets) }
  const nobody = await newUser(ministack, 'nobody')
  const reader = await newUser(ministack, 'reader', { Action: 'ssm:GetParameter', Resource: '*' })
  const stranger = await newUser(ministack, 'stranger', {
    Action: ['ssm:GetParameter', allowed.Action],
    Resource: '*',
  })
  await put('/runbridge/blank', ' ')
  await put('/runbridge/broken', 'tools: [')
  const binary = await newSecret('reads/binary', { SecretBinary: 'AAEC' })
  /** @type {Readonly<Record<string, [NodeJS.ProcessEnv, RegExp]>>} */
  const refused = {
    'a parameter that is missing': [
      { RUNBRIDGE_CONFIG_PARAMETER: '/runbridge/none' },
      /The SSM parameter \/runbridge\/none is not there: create it/,
    ],
    'a parameter that is blank': [
      { RUNBRIDGE_CONFIG_PARAMETER: '/runbridge/blank' },
      /The SSM parameter \/runbridge\/blank is empty/,
    ],
    'a parameter that is not YAML': [{ RUNBRIDGE_CONFIG_PARAMETER: '/runbridge/broken' }, /1:9|line 1/],
    'a parameter that the role may not read': [
      { ...nobody, RUNBRIDGE_SECRETS: '' },
      /may not be read: allow ssm:GetParameter/,
    ],
    'a secret that is missing': [{ RUNBRIDGE_SECRETS: named(missing) }, /for SEAL is not there: create it/],
    'a secret that the role may not read': [reader, /may not be read: allow secretsmanager:GetSecretValue/],
    'a secret that is no text': [{ RUNBRIDGE_SECRETS: named(binary) }, /for SEAL has no text/],
    'a state machine that the role may not see': [stranger, /does not allow states:DescribeStateMachine/],
  }
  for (const [what, [more, message]] of Object.entries(refused)) {
    await check(`${NAME}: ${what} is an error that says what to do`, async () => {
      const sandbox = await startSandbox({ program, folder, env: env(more) })
      try {
        const thrown = await sandbox.invoke({}).catch((/** @type {Error} */ error) => error)
        match(String(thrown), message)
      } finally {
        await sandbox.close()
      }
    })
  }
}
