import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { compileConfig } from 'runbridge'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { esbuildOptions } from './bundling.js'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const ROLE = 'arn:aws:iam::123456789012:role/workflows'
const MACHINE = 'arn:aws:states:us-east-1:123456789012:stateMachine:order'

/** As https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html answers. */
const ASSUMED = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
  <Credentials><AccessKeyId>ASSUMED</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>
  <Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>
  <AssumedRoleUser><AssumedRoleId>A:runbridge</AssumedRoleId><Arn>${ROLE}</Arn></AssumedRoleUser>
</AssumeRoleResult></AssumeRoleResponse>`

/** STS and Step Functions in one: who signed what. */
const seen: { who: string; what: string }[] = []
const aws = createServer(async (request, response) => {
  const who = /Credential=(\w+)/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  const body = await text(request)
  const toSts = body.includes('Action=AssumeRole')
  seen.push({ who, what: toSts ? `AssumeRole ${new URLSearchParams(body).get('RoleArn')}` : 'another' })
  const machine = { stateMachineArn: MACHINE, name: 'order', type: 'STANDARD', definition: '{}' }
  const run = { executionArn: `${MACHINE.replace('stateMachine', 'execution')}:rb-1`, startDate: 1 }
  response.end(toSts ? ASSUMED : JSON.stringify({ ...machine, ...run, status: 'ACTIVE' }))
})

let folder: string
let url: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'runbridge-bundle-'))
  await build({ ...esbuildOptions(at('../lambda/handler.ts')), outfile: join(folder, 'index.mjs') })
  await new Promise<void>((resolve) => aws.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`
  await configure({ roleArn: ROLE })
})

async function configure(engine: object) {
  const config = {
    store: { sealed: { keys: ['s'.repeat(32)] } },
    engines: { stepFunctions: { endpoint: url, ...engine } },
    tools: [{ name: 'order', description: 'It passes.', stepFunctions: { stateMachineArn: MACHINE } }],
  }
  writeFileSync(join(folder, 'runbridge.json'), JSON.stringify(compileConfig(JSON.stringify(config))))
}
afterAll(() => {
  aws.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A call of the tool by an IAM caller, as a Function URL hands it over. */
function callBy(callerId: string): object {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return {
    version: '2.0',
    rawPath: '/mcp',
    headers: {
      host: 'abc.lambda-url.us-east-1.on.aws',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'order',
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'order', arguments: {}, _meta },
    }),
    requestContext: {
      domainName: 'abc.lambda-url.us-east-1.on.aws',
      http: { method: 'POST' },
      authorizer: { iam: { accountId: '123456789012', callerId } },
    },
  }
}

/** The bundle from its beginning to its handler, in a process of its own, and events after it; what it said in the end. */
function started(...events: readonly object[]): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'OWN',
    AWS_SECRET_ACCESS_KEY: 'own',
    AWS_ENDPOINT_URL_STS: url,
    RUNBRIDGE_CALLERS: 'iam',
  }
  const program =
    "const { handler } = await import('./index.mjs'); console.log(typeof handler); for (const event of JSON.parse(process.argv[1])) console.log((await handler(event)).body); process.exit()"
  return new Promise((resolve) => {
    const args = ['--input-type=module', '-e', program, JSON.stringify(events)]
    execFile(process.execPath, args, { cwd: folder, env }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
}

describe('the bundle, for a role that is assumed', () => {
  it('says what is missing where there is no SDK beside it', async () => {
    expect(await started()).toMatch(
      /engines\.stepFunctions.+roleArn.+@aws-sdk\/credential-providers could not be/,
    )
    expect(seen).toEqual([])
  })

  it('assumes it with the SDK that the runtime has', async () => {
    // Where Lambda's runtime finds it by NODE_PATH.
    mkdirSync(join(folder, 'node_modules/@aws-sdk'), { recursive: true })
    symlinkSync(
      at('../../node_modules/@aws-sdk/credential-providers'),
      join(folder, 'node_modules/@aws-sdk/credential-providers'),
    )
    expect(await started()).toContain('function')
    expect(seen[0]).toEqual({ who: 'OWN', what: `AssumeRole ${ROLE}` })
    expect(seen.slice(1)).toContainEqual({ who: 'ASSUMED', what: 'another' })
  })

  it('assumes one for each owner, and calls nothing for an owner without', async () => {
    const owner = '["iam","123456789012","AROAORDERS"]'
    await configure({ roles: { [owner]: ROLE } })
    seen.length = 0
    const said = await started(callBy('AROAORDERS:session'), callBy('AROAOTHERS:session'))
    expect(said).toContain('AROAOTHERS')
    expect(seen).toEqual([
      { who: 'OWN', what: 'another' },
      { who: 'OWN', what: `AssumeRole ${ROLE}` },
      { who: 'ASSUMED', what: 'another' },
    ])
  })
})
