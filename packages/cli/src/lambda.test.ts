import { type StepFunctionsEmulator, startStepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { createToken } from '@runbridge/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LambdaSettings, lambda, streamingLambda } from './lambda.js'

const HOST = 'abc123.lambda-url.us-east-1.on.aws'
const pass = { StartAt: 'Done', States: { Done: { Type: 'Pass', End: true } } }
const ci = createToken()

let engine: StepFunctionsEmulator
beforeAll(async () => {
  engine = await startStepFunctionsEmulator({
    stateMachines: { Standard: pass, Express: { definition: pass, type: 'EXPRESS' } },
  })
})
afterAll(() => engine.close())

const AUTH = `  auth: { resourceUrl: "\${RUNBRIDGE_ADDRESS}/mcp", tokens: [{ name: ci, sha256: "${ci.sha256}" }] }`
const SEALED = 'store: { sealed: { keys: ["$' + '{SEAL}"] } }'

interface Parts {
  readonly auth?: string
  readonly store?: string
  readonly tool?: string
}

const opened = (parts?: Parts, more?: Partial<LambdaSettings>) => lambda(settingsOf(parts, more))

function settingsOf(parts: Parts = {}, more: Partial<LambdaSettings> = {}): LambdaSettings {
  const machine = parts.tool ?? `stepFunctions: { stateMachineArn: "${engine.stateMachineArn('Standard')}" }`
  const config = [
    'server:',
    '  logLevel: silent',
    '  audit: false',
    parts.auth ?? AUTH,
    parts.store ?? SEALED,
    `engines: { stepFunctions: { endpoint: "${engine.url}" } }`,
    `tools: [{ name: order, description: It passes., ${machine} }]`,
  ].join('\n')
  return {
    config,
    env: { SEAL: 's'.repeat(32) },
    awsCredentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    ...more,
  }
}

/** One request of a client without tasks, as a Function URL hands it over. */
function mcp(method: string, params: { name?: string; arguments?: object } = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return {
    version: '2.0',
    rawPath: '/mcp',
    headers: {
      host: HOST,
      authorization: `Bearer ${ci.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(params.name && { 'mcp-name': params.name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    requestContext: { domainName: HOST, http: { method: 'POST' } },
  }
}

function textOf(result: { body: string } | undefined): string {
  const data = /^data: (.+)$/m.exec(result?.body ?? '')?.[1]
  const { result: answer, error } = JSON.parse(data ?? result?.body ?? '')
  return answer?.content?.[0]?.text ?? JSON.stringify(answer ?? error)
}

describe('the handler', () => {
  it('starts a run, and another sandbox with the same key answers for it', async () => {
    const handler = await opened()
    const started = textOf(await handler(mcp('tools/call', { name: 'order', arguments: { a: 1 } })))
    const taskId = /tsk_[\w-]+/.exec(started)?.[0] ?? ''
    const [execution] = engine.executions()
    await engine.ended(execution?.executionArn ?? '')
    const other = await opened()
    const call = mcp('tools/call', { name: 'task_status', arguments: { taskId } })
    expect(textOf(await other(call))).toBe('{"a":1}')
  })

  it('says in its list that no call is held', async () => {
    const handler = await opened()
    expect(textOf(await handler(mcp('tools/list')))).not.toContain('45 s is answered with a task id')
  })

  it('takes no status changes where no records are kept', async () => {
    const handler = await opened()
    const detail = { executionArn: engine.executionArn('Standard', 'rb-1') }
    const event = { source: 'aws.states', 'detail-type': 'Step Functions Execution Status Change', detail }
    await expect(handler(event)).rejects.toThrow('This event')
    expect(await handler({ runbridge: 'sweep' })).toBeUndefined()
  })
})

describe('a configuration is refused', () => {
  const EXPRESS = () => `stepFunctions: { stateMachineArn: "${engine.stateMachineArn('Express')}" }`

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['that knows no caller', () => opened({ auth: '' }), /Nothing tells who calls/],
    ['with tokens beside IAM', () => opened({}, { callers: 'iam' }), /Callers are verified by AWS/],
    [
      'with a store that dies with its sandbox',
      () => opened({ store: 'store: { memory: {} }' }),
      /nothing else outlives/,
    ],
    [
      'with another engine',
      () => opened({ tool: 'googleWorkflows: { project: p, location: europe-west1, workflow: w }' }),
      /only Step Functions are served on Lambda/,
    ],
    [
      'with an Express state machine behind API Gateway',
      () => opened({ tool: EXPRESS() }, { front: 'api-gateway' }),
      /gives up after 30 s/,
    ],
    [
      'that streams behind an HTTP API',
      () => streamingLambda(settingsOf({}, { front: 'api-gateway' })),
      /HTTP APIs of API Gateway do not stream/,
    ],
    [
      'that streams outside of a runtime that can',
      () => streamingLambda(settingsOf()),
      /only the Node.js runtimes of Lambda/,
    ],
    ['that is no configuration', () => opened({ auth: '  auth: { tokens: [] }' }), /runbridge.yaml:4/],
  ])('%s', async (_name, open, message) => {
    await expect(open()).rejects.toThrow(message)
  })
})
