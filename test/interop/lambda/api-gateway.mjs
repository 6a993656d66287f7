import { match, strictEqual } from 'node:assert'
import { mcpRequest } from '../../bin/mcp-request.mjs'
import { startSandbox } from './sandbox.mjs'

const NAME = 'behind API Gateway'
const HOST = 'abc123.execute-api.us-east-1.amazonaws.com'
const BEHIND = { RUNBRIDGE_FRONT: 'api-gateway' }

/** As an HTTP API sends it, payload format 2.0. @param {string} stage @param {string} path @param {object} [iam] */
function listTools(stage, path, iam) {
  const { headers, body } = mcpRequest('tools/list')
  return {
    version: '2.0',
    routeKey: 'ANY /mcp',
    rawPath: path,
    rawQueryString: '',
    headers: { host: HOST, ...headers },
    requestContext: {
      domainName: HOST,
      stage,
      http: { method: 'POST', path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'interop' },
      ...(iam && { authorizer: { iam } }),
    },
    body,
    isBase64Encoded: false,
  }
}

/**
 * The same bundles by events of an HTTP API.
 * @param {import('../checks.mjs').Checks} checks
 * @param {{ program: string, env: NodeJS.ProcessEnv, forTokens: string, forIam: string }} world the folders of the bundles;
 *   `forTokens` serves an Express state machine too
 */
export async function apiGateway({ check }, { program, env, forTokens, forIam }) {
  const name = (/** @type {string} */ what) => `${NAME}: ${what}`
  await check(name('the function does not start with an Express state machine, and says why'), async () => {
    const sandbox = await startSandbox({ program, folder: forTokens, env: { ...env, ...BEHIND } })
    try {
      const thrown = await sandbox.invoke({ runbridge: 'sweep' }).catch((/** @type {Error} */ error) => error)
      match(`${thrown} ${sandbox.log()}`, /quote: an Express state machine .* gives up after 30 s/)
    } finally {
      await sandbox.close()
    }
  })
  await check(
    name('who signed is served, by the stage $default and by one that the path names'),
    async () => {
      const more = { ...BEHIND, RUNBRIDGE_CALLERS: 'iam' }
      const sandbox = await startSandbox({ program, folder: forIam, env: { ...env, ...more } })
      const iam = { accountId: '000000000000', callerId: 'AIDAEXAMPLE', userId: 'AIDAEXAMPLE' }
      try {
        for (const [stage, path] of /** @type {const} */ ([
          ['$default', '/mcp'],
          ['prod', '/prod/mcp'],
        ])) {
          const answer = await sandbox.invoke(listTools(stage, path, iam))
          strictEqual(answer.statusCode, 200)
          match(answer.body, /"greet"/)
        }
        strictEqual((await sandbox.invoke(listTools('prod', '/prod/mcp'))).statusCode, 401)
        strictEqual((await sandbox.invoke(listTools('prod', '/production/mcp', iam))).statusCode, 404)
      } finally {
        await sandbox.close()
      }
    },
  )
}
