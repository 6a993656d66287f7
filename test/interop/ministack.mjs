import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort } from '../bin/free-port.mjs'
import { startForeign } from './foreign-process.mjs'
import { installedPython } from './installed.mjs'

/** PyPI `ministack` (MIT): a local AWS by others. The version that the list of what it does wrong is about. */
export const VERSION = '1.5.33'

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {http.IncomingHttpHeaders} headers
 * @property {string} text
 */
/**
 * @typedef {object} Ministack
 * @property {string} url
 * @property {string} folder what it writes is in here, the code of its functions too
 * @property {string | undefined} ca the file of the certificate that it serves with
 * @property {(options: http.RequestOptions, body?: string) => Promise<Answer>} request
 * @property {(service: string, action: string, request: object) => Promise<any>} call throws what AWS calls an error
 * @property {() => Promise<void>} close
 */

/**
 * Starts ministack on loopback, with everything it writes in a folder of its own; `close` ends that process.
 * @param {{ strict?: boolean, path?: string, env?: NodeJS.ProcessEnv }} [options] `strict`: over TLS alone, and it
 *   evaluates IAM's policies. It takes port 443 of loopback too then, where it may. `path`: where it finds the
 *   interpreters of functions
 * @returns {Promise<Ministack>}
 */
export async function startMinistack({ strict = false, path = process.env.PATH ?? '', env = {} } = {}) {
  const { python } = await installedPython(`ministack==${VERSION}`)
  const folder = mkdtempSync(join(tmpdir(), 'runbridge-ministack-'))
  const port = await freePort()
  const ca = strict ? join(folder, 'ministack-tls/server.crt') : undefined
  /** @type {Ministack['request']} */
  const request = async (options, body) => {
    const to = { host: '127.0.0.1', port, ...options }
    const message = ca
      ? https.request({ ...to, ca: readFileSync(ca), servername: 'localhost' })
      : http.request(to)
    message.end(body)
    const [response] = await once(message, 'response')
    return { status: response.statusCode, headers: response.headers, text: await text(response) }
  }
  const close = await startForeign(python, ['-m', 'ministack.app'], {
    name: 'ministack',
    folder,
    env: {
      PATH: path,
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      IOT_MTLS_ENABLED: '0',
      SFTP_ENABLED: '0',
      LOG_LEVEL: 'WARNING',
      ...(strict && { AUTH: 'true', USE_SSL: '1' }),
      ...env,
    },
    answers: async () => (await request({ path: '/_ministack/health' })).status === 200,
  })
  return {
    url: `${strict ? 'https' : 'http'}://127.0.0.1:${port}`,
    folder,
    ca,
    request,
    call: (service, action, input) => call(request, service, action, input),
    close,
  }
}

/** Who speaks AWS JSON, and its name in `x-amz-target`. */
const TARGETS = /** @type {Record<string, string>} */ ({
  dynamodb: 'DynamoDB_20120810',
  events: 'AWSEvents',
  logs: 'Logs_20140328',
  monitoring: 'GraniteServiceVersion20100801',
  secretsmanager: 'secretsmanager',
  sqs: 'AmazonSQS',
  ssm: 'AmazonSSM',
  states: 'AWSStepFunctions',
})

/**
 * The header that names service and region, of the root of the account, whose signature nobody checks.
 * @param {string} service
 */
export const asRoot = (service) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=0`,
})

/**
 * One call, in AWS JSON, or, for IAM, as a form that is answered in XML.
 * @param {Ministack['request']} request @param {string} service @param {string} action @param {object} input
 */
async function call(request, service, action, input) {
  const target = TARGETS[service]
  const headers = asRoot(service)
  const { status, text } = await request(
    {
      method: 'POST',
      headers: target
        ? { ...headers, 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `${target}.${action}` }
        : { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    },
    target ? JSON.stringify(input) : new URLSearchParams({ Action: action, ...input }).toString(),
  )
  if (!target) {
    if (status >= 400) throw new Error(`${action}: ${text}`)
    return text
  }
  const json = text === '' ? {} : JSON.parse(text)
  if (status >= 400)
    throw new Error(`${action}: ${json.__type ?? status} ${json.message ?? json.Message ?? ''}`)
  return json
}
